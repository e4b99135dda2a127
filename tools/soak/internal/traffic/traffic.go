package traffic

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest/scripts"
)

// Capture is a capture file.
type Capture struct {
	// Name has the ending that a user would give it.
	Name string
	Data []byte
	// About says how it was made.
	About string
}

// most is how large a capture may be, in octets: rounds are short, and many.
const most = 3 << 20

// making is a capture on its way.
type making struct {
	rnd  *rand.Rand
	said []string
	data []byte
	// plain tells that all frames are Ethernet and IPv4 without options.
	plain bool
}

func (m *making) say(format string, args ...any) {
	m.said = append(m.said, fmt.Sprintf(format, args...))
}

// Make makes the capture of a seed.
func Make(name string, seed uint64) (Capture, error) {
	m := &making{rnd: rand.New(rand.NewPCG(seed, 20))}
	s := m.script(m.rnd.Uint64())
	var file bytes.Buffer
	if _, err := synth.Run(&file, s); err != nil {
		return Capture{}, fmt.Errorf("capture of seed %d: %s: %w", seed, m, err)
	}
	if m.data = file.Bytes(); len(m.data) > most {
		m.say("cut at %d octets", most)
		m.data = m.data[:most]
	}
	m.frames()
	m.file()
	ending, err := m.compress()
	if err != nil {
		return Capture{}, err
	}
	return Capture{Name: name + ending, Data: m.data, About: m.String()}, nil
}

// String says how it was made.
func (m *making) String() string { return strings.Join(m.said, ", ") }

// script chooses what is sent.
func (m *making) script(seed uint64) *synth.Script {
	switch m.rnd.IntN(10) {
	case 0, 1, 2:
		s := scripts.Random(seed)
		m.say("random connections %d", seed)
		m.faults(s)
		return s
	case 3, 4:
		s := scripts.RandomSCTP(seed)
		m.say("random associations %d", seed)
		m.faults(s)
		return s
	case 5, 6, 7:
		all := scenario.Builtin()
		x, clean := all[m.rnd.IntN(len(all))], m.rnd.IntN(4) == 0
		s := x.Script(clean)
		s.Seed, s.Link.Seed, s.Capture.Seed = seed, seed, seed
		m.say("scenario %s, clean %t", x.Name, clean)
		m.lose(s)
		return s
	}
	l := scenario.Shape{
		Size: 20<<10 + m.rnd.Uint64N(600<<10), Flows: 1 + m.rnd.IntN(40), Seed: seed,
		Markers: m.rnd.IntN(3) == 0, IPv6: m.rnd.IntN(4) == 0, SCTP: m.rnd.IntN(5) == 0,
		Mix: []scenario.Mix{scenario.Mixed, scenario.Bulk}[m.rnd.IntN(2)],
	}
	if m.rnd.IntN(3) == 0 {
		l.FPDU = 2000 + m.rnd.IntN(10000)
	}
	if m.rnd.IntN(2) == 0 {
		l.Loss, l.Reorder = m.rnd.Float64()*0.03, m.rnd.Float64()*0.03
	}
	if m.rnd.IntN(3) == 0 {
		l.BadCRC = m.rnd.Float64() * 0.05
	}
	if m.rnd.IntN(4) == 0 {
		l.VLAN = uint16(1 + m.rnd.IntN(4094)) //nolint:gosec // of 12 bits
	}
	m.plain = !l.IPv6 && l.VLAN == 0
	m.say("load %+v", l)
	return scenario.Load(l)
}

// lose has the link of a script lose, repeat and reorder, behind the capture point and before.
func (m *making) lose(s *synth.Script) {
	if m.rnd.IntN(2) == 0 {
		return
	}
	for side := range s.Link.Before {
		for _, line := range []*float64{
			&s.Link.Before[side].Loss, &s.Link.Before[side].Duplicate, &s.Link.Before[side].Reorder,
			&s.Link.After[side].Loss, &s.Link.After[side].Duplicate,
		} {
			*line = m.rnd.Float64() * 0.05
		}
	}
	m.say("over a bad link")
}
