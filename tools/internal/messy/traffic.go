package messy

import (
	"bytes"
	"fmt"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// Traffic is a kind of traffic that is captured.
type Traffic struct {
	Name string
	// Recovered is the share of the FPDUs that were captured whole which has to be found.
	Recovered float64
	shape     scenario.Shape
	// text is a scenario, "" for that of the shape.
	text string
}

// Kinds are the kinds of traffic; the seed makes others of the same kinds.
func Kinds(seed uint64) []Traffic {
	const size, flows = 3 << 20, 12
	return []Traffic{
		{Name: "crc", Recovered: 1, shape: scenario.Shape{Size: size, Flows: flows, Seed: seed}},
		{Name: "markers", Recovered: 1, shape: scenario.Shape{Size: size, Flows: flows, Seed: seed, Markers: true}},
		{Name: "spanning", Recovered: 1, shape: scenario.Shape{Size: size, Flows: flows, Seed: seed, FPDU: 9000}},
		{Name: "resent", Recovered: 1, shape: scenario.Shape{Size: size, Flows: flows, Seed: seed, Loss: 0.01, Reorder: 0.01}},
		{Name: "sctp", Recovered: 1, shape: scenario.Shape{Size: size, Flows: flows, Seed: seed, SCTP: true}},
		{Name: "no-crc", Recovered: 0.85, text: fmt.Sprintf(withoutCRC, seed)},
	}
}

// withoutCRC is traffic in which nothing but headers and lengths tells where FPDUs begin.
const withoutCRC = `
summary: Writes, Reads and Sends without CRC.
seed: %d
both: {mpa: {crc: false}}
connections: 6
timeline:
  - connect
  - write 40KiB x20
  - read 16KiB x20
  - server send 3000 x20
  - send 700 x20
  - server write 9000 x20
  - close
`

// Frames are all frames of the traffic.
func (t Traffic) Frames() ([]capture.Frame, error) {
	script := (*synth.Script)(nil)
	if t.text == "" {
		script = scenario.Load(t.shape)
	} else {
		s, err := scenario.Parse(t.Name, []byte(t.text))
		if err != nil {
			return nil, err
		}
		script = s.Script(false)
	}
	var file bytes.Buffer
	if _, err := synth.Run(&file, script); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return tracetest.ReadFile(file.Bytes())
}
