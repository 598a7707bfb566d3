/// Gate
pub struct Gate<'a> { at: &'a str }
impl<'a> Gate<'a> { pub fn open(&self) -> u8 { 'x' as u8 } }
