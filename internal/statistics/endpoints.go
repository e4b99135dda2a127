package statistics

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// makeEndpoints makes what reads "endpoints" or "endpoints,TYPE".
func makeEndpoints(name string) func(*spec, string) error {
	return func(s *spec, args string) error {
		s.taps = func(s *spec) []tap {
			return eachType(name, func(t *hostType) tap {
				return &endpoints{kind: t, filter: s.filter, all: name == "", index: map[host]int32{}}
			})
		}
		return s.only(args)
	}
}

// endpoint is what a host sent and received.
type endpoint struct {
	host
	sent, received traffic
}

// endpoints gathers those of a type.
type endpoints struct {
	kind   *hostType
	filter string
	all    bool
	room   *room
	index  map[host]int32
	list   []endpoint
	found  []pair
	// omitted counts what endpoints beyond the bound sent or received.
	omitted uint64
}

// endpointWeight is what an endpoint takes.
const endpointWeight = int(unsafe.Sizeof(endpoint{})+2*unsafe.Sizeof(host{})) + rowWeight

func (e *endpoints) keepsIn(r *room) { e.room = r }

func (e *endpoints) frame(f *pipeline.Frame) {
	e.found = e.kind.pairs(e.found[:0], f)
	for i := range e.found {
		p := &e.found[i]
		if s := e.of(p.src); s != nil {
			s.sent.add(f.OrigLen)
		}
		if d := e.of(p.dst); d != nil {
			d.received.add(f.OrigLen)
		}
	}
}

// of returns an endpoint, nil if there is no room for it.
func (e *endpoints) of(h host) *endpoint {
	n, ok := e.index[h]
	if !ok {
		if len(e.list) >= maxRows || !e.room.take(endpointWeight) {
			e.omitted++
			return nil
		}
		n = int32(len(e.list)) //nolint:gosec // at most maxRows
		e.index[h] = n
		e.list = append(e.list, endpoint{host: h})
	}
	return &e.list[n]
}

func (e *endpoints) report() *Report {
	if e.all && len(e.list) == 0 {
		return nil
	}
	list := slices.Clone(e.list)
	slices.SortStableFunc(list, func(a, b endpoint) int {
		return cmp.Compare(b.sent.frames+b.received.frames, a.sent.frames+a.received.frames)
	})
	r := &Report{Name: "endpoints," + e.kind.name, Filter: e.filter, Title: e.kind.title + " Endpoints"}
	t := Table{Key: "endpoints", Columns: []Column{{"address", "address", Plain}}}
	if e.kind.ports {
		t.Columns = append(t.Columns, Column{"port", "port", Count})
	}
	t.Columns = append(
		t.Columns,
		Column{"frames", "frames", Count}, Column{"octets", "octets", Octets},
		Column{"frames_sent", "frames sent", Count}, Column{"octets_sent", "octets sent", Octets},
		Column{"frames_received", "frames received", Count}, Column{"octets_received", "octets received", Octets},
	)
	for i := range list {
		v := &list[i]
		row := []any{e.kind.text(v.addr)}
		if e.kind.ports {
			row = append(row, uint64(v.port))
		}
		t.Rows = append(t.Rows, append(
			row, v.sent.frames+v.received.frames, v.sent.octets+v.received.octets,
			v.sent.frames, v.sent.octets, v.received.frames, v.received.octets,
		))
	}
	r.Tables = []Table{t}
	if e.omitted > 0 {
		r.note(fmt.Sprintf("endpoints beyond the first %d are left out; frames name them %d times", len(e.list), e.omitted))
	}
	r.text = func(w *textWriter, r *Report) { e.text(w, r, list) }
	return r
}

// text writes the table as tshark does.
func (e *endpoints) text(w *textWriter, r *Report, list []endpoint) {
	w.head(r)
	port := ""
	if e.kind.ports {
		port = "  Port  ||"
	}
	w.printf("%23s|%s  Packets  | |  Bytes  | | Tx Packets | | Tx Bytes | | Rx Packets | | Rx Bytes |\n", "", port)
	for i := range list {
		v := &list[i]
		w.printf("%-20s      ", e.kind.text(v.addr))
		if e.kind.ports {
			w.printf("%5d     ", v.port)
		}
		w.printf(
			"%6d     %9d     %6d       %9d      %6d       %9d   \n",
			v.sent.frames+v.received.frames, v.sent.octets+v.received.octets,
			v.sent.frames, v.sent.octets, v.received.frames, v.received.octets,
		)
	}
	w.foot(r)
}
