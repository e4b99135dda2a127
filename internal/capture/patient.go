package capture

import "io"

// maxEmptyReads is how often a reader may give neither octets nor an error.
const maxEmptyReads = 100

// patient gives up on a reader that gives neither octets nor an error too often in a row.
type patient struct {
	r     io.Reader
	empty int
}

// Read implements [io.Reader].
func (p *patient) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if n > 0 || err != nil || len(b) == 0 {
		p.empty = 0
		return n, err
	}
	if p.empty++; p.empty >= maxEmptyReads {
		return 0, io.ErrNoProgress
	}
	return 0, nil
}
