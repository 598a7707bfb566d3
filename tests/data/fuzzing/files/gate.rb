class Gate
  def open
    <<~A
      x
    A
  end
end
