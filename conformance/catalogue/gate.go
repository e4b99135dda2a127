package catalogue

import "strings"

// Gate is a set of kinds of evidence. A rule names those without which it cannot
// judge; where one is missing the rule is not asked, and its verdict is [NotJudged].
type Gate uint16

// The gates, as the catalogue names them: G-START, G-CONTIG and so on.
const (
	// Start: the position where the stream begins is known in this direction.
	Start Gate = 1 << iota
	// Contig: no hole before the event in this direction.
	Contig
	// Full: every octet that the rule depends on was captured, and is still known where octets
	// that came again are compared with it.
	Full
	// Bidir: both directions have packets in the capture.
	Bidir
	// Causal: the order between the directions is proven by acknowledgement.
	Causal
	// Sum: the packets concerned are not known to be damaged. Packets known to be damaged
	// are left out; Sum is missing when this is unknown.
	Sum
	// Neg: both startup frames were decoded.
	Neg
	// Sync: the bounds of FPDUs are trusted.
	Sync
	// MsgSync: the message state of the queue or flow is known.
	MsgSync
	// ReadSync: all requests were decoded, so that the queue of them is exact.
	ReadSync
	// Layout: the layout of the enhanced startup data is known (RFC 6581 section 9, or its
	// draft -01).
	Layout
	// Size: captured segment sizes are wire sizes.
	Size
	// End: the end of the connection was captured.
	End
)

var gateNames = [...]string{
	"G-START", "G-CONTIG", "G-FULL", "G-BIDIR", "G-CAUSAL", "G-SUM", "G-NEG", "G-SYNC", "G-MSGSYNC", "G-READSYNC", "G-LAYOUT", "G-SIZE", "G-END",
}

// String returns the names, with blanks between them.
func (g Gate) String() string {
	var s []string
	for i, n := range gateNames {
		if g&(1<<i) != 0 {
			s = append(s, n)
		}
	}
	return strings.Join(s, " ")
}

// Names lists the gates as the catalogue names them.
func (g Gate) Names() []string { return strings.Fields(g.String()) }

// First returns the first of several gates.
func (g Gate) First() Gate { return g & -g }

// NumGates is how many gates there are.
const NumGates = len(gateNames)

// lacks say why a rule was not judged, for each gate.
var lacks = [...]string{
	"the start of the stream was not captured",
	"octets are missing from the capture",
	"not every octet that they look at was captured or kept",
	"one direction was not captured",
	"no acknowledgement proves the order of the two sides",
	"it is not known which packets were damaged",
	"a startup frame was not captured",
	"the bounds of FPDUs are not certain",
	"what a queue holds is not known",
	"it is not certain which requests were outstanding",
	"the layout of the enhanced data is not certain",
	"segments may be of another size than on the wire",
	"the end of the connection was not captured",
}

// Lack says in words what is missing when the first of the gates does not hold.
func (g Gate) Lack() string {
	for i, s := range lacks {
		if g&(1<<i) != 0 {
			return s
		}
	}
	return ""
}
