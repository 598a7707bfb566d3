package gate

func (g *Gate) Open(at int) (string, error) {
	return `a`, nil
}
