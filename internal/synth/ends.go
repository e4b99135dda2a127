package synth

import (
	"io"

	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// Ended is how a connection ended at one side.
type Ended struct {
	rnic.End
	// Begun: the startup frame of the other side has come.
	Begun bool
}

// Ends plays a script, and tells how each of its connections ended, by side.
func Ends(s *Script) ([][2]Ended, error) {
	tap, err := link.NewTap(io.Discard, s.Capture)
	if err != nil {
		return nil, err
	}
	w := newWorld(s, nil, tap, nil)
	if err := w.play(); err != nil {
		return nil, err
	}
	all := make([][2]Ended, len(w.conns))
	for i, c := range w.conns {
		for side, h := range c.hosts {
			if h.ep == nil {
				continue
			}
			all[i][side].End = h.ep.End()
			_, all[i][side].Begun = h.ep.PeerPrivate()
		}
	}
	return all, tap.Close()
}
