"""What plain sentences claim, and whether a newer claim takes the place of an older one."""
