package traffic

import (
	"bytes"
	"math"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/tools/internal/messy"
)

// frames captures badly, and changes single frames at any layer.
func (m *making) frames() {
	bad, edits := m.rnd.IntN(2) == 0, m.rnd.IntN(3) == 0
	if !bad && !edits {
		return
	}
	fs, err := tracetest.ReadFile(m.data)
	if err != nil || len(fs) == 0 || mixed(fs) {
		return // it is used as it is
	}
	if bad {
		all := slices.DeleteFunc(messy.All(), func(x messy.Mess) bool { return x.Plain && !m.plain || x.Name == "taps" && !m.plain })
		x := all[m.rnd.IntN(len(all))]
		fs = tracetest.Number(x.Of(fs, m.rnd.Uint64()))
		m.say("captured with %s", x.Name)
	}
	if edits {
		input := m.octets(20 * tracetest.EditSize)
		fs = tracetest.Edit(fs, input)
		m.say("%d edits", len(input)/tracetest.EditSize)
	}
	if !slices.ContainsFunc(fs, untimely) {
		m.data = tracetest.PCAP(fs)
	}
}

// mixed reports whether frames do not fit into a file of one link type.
func mixed(fs []capture.Frame) bool {
	return slices.ContainsFunc(fs, func(f capture.Frame) bool { return f.Link != fs[0].Link })
}

// untimely reports whether a pcap file cannot hold the time of a frame.
func untimely(f capture.Frame) bool { return f.Time < 0 || f.Time/1e9 > math.MaxUint32 }

// file damages the file: its end is missing, or some octets are others.
func (m *making) file() {
	if len(m.data) == 0 {
		return
	}
	switch m.rnd.IntN(10) {
	case 0:
		n := m.rnd.IntN(len(m.data))
		m.data = m.data[:n]
		m.say("cut at %d octets", n)
	case 1:
		m.data = bytes.Clone(m.data)
		n := 1 + m.rnd.IntN(8)
		for range n {
			m.data[m.rnd.IntN(len(m.data))] ^= byte(1 + m.rnd.IntN(255)) //nolint:gosec // an octet
		}
		m.say("%d octets changed", n)
	}
}

// compress compresses the file, and returns the ending of its name.
func (m *making) compress() (string, error) {
	var out bytes.Buffer
	switch m.rnd.IntN(8) {
	case 0:
		w := gzip.NewWriter(&out)
		if _, err := w.Write(m.data); err != nil {
			return "", err
		}
		if err := w.Close(); err != nil {
			return "", err
		}
		m.data = out.Bytes()
		m.say("gzip")
		return ".pcap.gz", nil
	case 1:
		w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return "", err
		}
		if _, err := w.Write(m.data); err != nil {
			return "", err
		}
		if err := w.Close(); err != nil {
			return "", err
		}
		m.data = out.Bytes()
		m.say("zstd")
		return ".pcap.zst", nil
	}
	return ".pcap", nil
}
