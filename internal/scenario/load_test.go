package scenario

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
)

// branches are what the connections of a script do.
func branches(s *synth.Script) (all [][]synth.Step) {
	for i := range s.Connections {
		all = append(all, s.Branch()(i)) // what one tells is gone when it is asked again
	}
	return all
}

func TestLoad(t *testing.T) {
	s := Load(Shape{Size: 1 << 30, Flows: 64, Seed: 7})
	if len(s.Connections) != 64 || len(branches(s)) != 64 {
		t.Fatalf("%d connections, %d branches", len(s.Connections), len(branches(s)))
	}
	seen := map[string]bool{}
	var total uint64
	for i, b := range branches(s) {
		if s.Connections[i].Hosts[0].Addr.Port() != uint16(40000+i) {
			t.Errorf("port %d", s.Connections[i].Hosts[0].Addr.Port())
		}
		kept := s.Connections[i].Hosts[synth.Server].Memory.Kept
		if read := b[1].Steps[1].Steps[0].Work; read.Op != rnic.OpRead || read.Size > kept {
			t.Errorf("%d octets are kept, a Read asks for %d", kept, read.Size)
		}
		for _, step := range b {
			total += step.Size
			for _, w := range step.Steps {
				if w.Verb == synth.Post && (seen[w.Name] || w.Conn != s.Connections[i].Name) {
					t.Errorf("step %q on %q", w.Name, w.Conn)
				}
				seen[w.Name] = true
			}
		}
	}
	if total < 9<<30/10 || total > 1<<30 {
		t.Errorf("%d octets in the streams", total)
	}
	if !reflect.DeepEqual(branches(s), branches(Load(Shape{Size: 1 << 30, Flows: 64, Seed: 7}))) || reflect.DeepEqual(branches(s), branches(Load(Shape{Size: 1 << 30, Flows: 64, Seed: 8}))) {
		t.Error("the seed does not decide")
	}
}

// TestLoad_Bulk holds that all flows of a small trace send no more than their
// share, and that of a big one always have something to send.
func TestLoad_Bulk(t *testing.T) {
	for _, flows := range []int{1, 16, 64, 1000, 10_000} {
		s := Load(Shape{Size: 1 << 30, Flows: flows, Mix: Bulk})
		share := uint64(1<<30) / uint64(flows)
		for i, b := range branches(s) {
			var total, open uint64
			for _, step := range b {
				switch step.Verb {
				case synth.Load:
					total += step.Size
					open = uint64(len(step.Steps)) / 2
				case synth.Post:
					total += step.Work.Size
				default:
				}
			}
			if total > share || total < share*85/100 {
				t.Errorf("flow %d of %d sends %d of %d octets", i, flows, total, share)
			}
			if share > 8<<20 && open != ahead {
				t.Errorf("flow %d of %d posts %d Writes at once", i, flows, open)
			}
		}
	}
}

func TestLoad_Shape(t *testing.T) {
	s := Load(Shape{Size: 1 << 20, Flows: 3, MTU: 9000, Markers: true, FPDU: 16 << 10, Loss: 0.02, Reorder: 0.01, IPv6: true, VLAN: 7})
	for _, c := range s.Connections {
		for _, h := range c.Hosts {
			if !h.Addr.Addr().Is6() || len(h.VLANs) != 1 || h.VLANs[0].TCI != 7 || !h.RNIC.Startup.Markers ||
				h.TCP.MSS != 9000-60 || h.RNIC.MULPDU != 16<<10-6 || h.TCP.Packing != tcp.Stream {
				t.Errorf("%s: %+v", c.Name, h)
			}
		}
	}
	for _, l := range s.Link.Before {
		if l.Loss != 0.01 || l.Reorder != 0.01 || l.ReorderBy == 0 || l.Rate == 0 {
			t.Errorf("in front: %+v", l)
		}
	}
	for _, l := range s.Link.After {
		if l.Loss != 0.01 || l.Reorder != 0 {
			t.Errorf("behind: %+v", l)
		}
	}
	s = Load(Shape{Size: 1 << 20, Flows: 3, SCTP: true})
	for i, c := range s.Connections {
		if c.SID != 0 || c.Association == "" || i > 0 && c.Association == s.Connections[i-1].Association ||
			c.Hosts[0].Addr.Port() != uint16(clientPort+i) {
			t.Errorf("%+v", c)
		}
	}
}

// TestLoad_BadCRC: about as many CRCs are wrong as were asked for, and everything is sent
// all the same.
func TestLoad_BadCRC(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if _, err := synth.Run(&b, Load(Shape{Size: 4 << 20, Flows: 8, Seed: 1, Mix: Bulk, BadCRC: 0.05})); err != nil {
		t.Fatal(err)
	}
	r, err := pcapng.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	all, bad := 0, 0
	for {
		var rec pcapng.Record
		if err := r.Next(&rec); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		var p packet.Packet
		// A full segment of bulk data is one FPDU.
		if !packet.Plain(rec.Data, &p) || len(p.Payload) < 1400 {
			continue
		}
		all++
		if n := len(p.Payload) - 4; mpa.CRC32c(p.Payload[:n]) != binary.BigEndian.Uint32(p.Payload[n:]) {
			bad++
		}
	}
	if all < 2000 || bad < all*3/100 || bad > all*7/100 {
		t.Errorf("%d of %d CRCs are wrong", bad, all)
	}
}
