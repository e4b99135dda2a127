package rdmap_test

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// unhex turns hexadecimal digits, spaced as they like, into octets.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// newRand returns the generator of every test: the same values on every run.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(5040, 7306)) }

func genControl(r *rand.Rand) rdmap.Control {
	return rdmap.Control{RV: uint8(r.IntN(4)), Rsv: uint8(r.IntN(4)), Opcode: rdmap.Opcode(r.IntN(16))}
}

func genReadRequest(r *rand.Rand) rdmap.ReadRequest {
	return rdmap.ReadRequest{
		SinkSTag: r.Uint32(), SinkTO: r.Uint64(), Size: r.Uint32(),
		SrcSTag: r.Uint32(), SrcTO: r.Uint64(),
	}
}

func genAtomicRequest(r *rand.Rand) rdmap.AtomicRequest {
	return rdmap.AtomicRequest{
		Rsvd: r.Uint32() >> 4, AOpCode: rdmap.AOpCode(r.IntN(16)), RequestID: r.Uint32(),
		RemoteSTag: r.Uint32(), RemoteTO: r.Uint64(), Data: r.Uint64(), Mask: r.Uint64(),
		CompareData: r.Uint64(), CompareMask: r.Uint64(),
	}
}

func genAtomicResponse(r *rand.Rand) rdmap.AtomicResponse {
	return rdmap.AtomicResponse{RequestID: r.Uint32(), Original: r.Uint64()}
}

func genImmediateData(r *rand.Rand) (d rdmap.ImmediateData) {
	for i := range d.Data {
		d.Data[i] = byte(r.Uint32())
	}
	return d
}

// genTerminate returns a message whose parts agree with M, D and R.
func genTerminate(r *rand.Rand) rdmap.Terminate {
	t := rdmap.Terminate{
		TermCode: rdmap.TermCode{
			Layer: uint8(r.IntN(16)), EType: uint8(r.IntN(16)), Code: uint8(r.IntN(256)),
			M: r.IntN(2) == 0, D: r.IntN(2) == 0, R: r.IntN(2) == 0,
		},
		Rsvd: uint16(r.IntN(1 << 13)),
	}
	if t.M || t.D {
		t.HasSegLength, t.SegLength = true, uint16(r.Uint32())
	}
	if t.D {
		s := ddp.Segment{Tagged: r.IntN(2) == 0, Rsvd: uint8(r.IntN(16)), STag: r.Uint32(), MSN: r.Uint32(), MO: r.Uint32()}
		t.DDPHeader = s.Append(nil)
	}
	if t.R {
		t.RDMAHeader = genReadRequest(r).Append(nil)
	}
	for range r.IntN(2) * r.IntN(9) {
		t.Trailing = append(t.Trailing, byte(r.Uint32()))
	}
	return t
}

// proveDescriptors sets, one described field after the other, only the bits the
// description claims, and expects exactly the decoded part of that name to
// change. view decodes the octets and returns the parts by field name.
func proveDescriptors(t *testing.T, name string, size int, fields []*dissect.Field, view func(b []byte) map[string]uint64) {
	t.Helper()
	zero := view(make([]byte, size))
	claimed := make([]int, 8*size)
	for _, f := range fields {
		if f.Derived() {
			continue
		}
		if _, ok := zero[f.Name]; !ok {
			t.Errorf("%s: the proof has no value for it", f.Name)
			continue
		}
		for bit := f.Bit; bit < f.Bit+f.Width; bit++ {
			claimed[bit]++
			b := make([]byte, size)
			b[bit/8] = 0x80 >> (bit % 8)
			for name, v := range view(b) {
				switch {
				case name == f.Name && v != 1<<(f.Bit+f.Width-1-bit):
					t.Errorf("%s: bit %d decodes to %#x", name, bit, v)
				case name != f.Name && v != 0:
					t.Errorf("bit %d belongs to %s but changes %s", bit, f.Name, name)
				}
			}
			if f.Uint(b) != 1<<(f.Bit+f.Width-1-bit) {
				t.Errorf("%s: Uint reads %#x for bit %d", f.Name, f.Uint(b), bit)
			}
		}
	}
	for bit, n := range claimed {
		if n != 1 {
			t.Errorf("%s: bit %d is claimed by %d fields", name, bit, n)
		}
	}
}

// all returns the fields of a header for proveDescriptors.
func all(h *dissect.Header) []*dissect.Field {
	var fs []*dissect.Field
	for i := range h.Fields {
		fs = append(fs, &h.Fields[i])
	}
	return fs
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
