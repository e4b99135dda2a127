package mpa

import "slices"

// Clone returns a copy of the FPDU that may be kept: it points to octets of its
// own.
func (f *FPDU) Clone() *FPDU {
	if f == nil {
		return nil
	}
	own := *f
	own.Head, own.ULPDU, own.Wire = slices.Clone(f.Head), slices.Clone(f.ULPDU), slices.Clone(f.Wire)
	own.Markers, own.Missing = slices.Clone(f.Markers), slices.Clone(f.Missing)
	return &own
}

// Clone returns a copy of the frame that may be kept: it points to octets of its
// own.
func (s *Startup) Clone() *Startup {
	if s == nil {
		return nil
	}
	own := *s
	own.PrivateData = slices.Clone(s.PrivateData)
	return &own
}
