package fields

import (
	"sync"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// layer is a set of fields that the same code reads. A field may be one of several
// layers; the first one describes it.
type layer struct {
	fields []Field
	// ofPDUs: PDUs have them, not frames.
	ofPDUs bool
	// read makes the reader of a collector that wants some of the fields: slots has the
	// slot in the row for each of fields, or -1.
	read func(c *Collector, slots []int) reader
}

// reader hands values to its collector. Each function may be nil.
type reader struct {
	// opened reads what the headers of a frame say; frame, when all that the frame
	// carried was handed out, what became known with it.
	opened, frame func(*pipeline.Frame)
	pdu           func(*trace.PDU)
	transaction   func(*trace.Transaction)
	finding       func(*Finding)
	// alone says what is known of a connection, without a frame or a PDU.
	alone func(c *trace.Connection, d trace.Dir, hasDir bool)
	// reset forgets what was known of a frame.
	reset func()
}

// Finding is what fields say of a finding of a rule.
type Finding struct {
	// Rule is its id, Level its severity.
	Rule, Level string
	// PDU is the number of the PDU that is wrong, if HasPDU.
	PDU    uint64
	HasPDU bool
}

// layers are all there are, in the order of the list of fields. Each file that has one
// adds it here.
var layers = []*layer{
	&headerLayer,
	&pduLayer,
	&ownLayer,
	&sendLayer,
	&frameLayer,
	&columnLayer,
}

// registry finds fields by name.
type registry struct {
	all    []*Field
	byName map[string]*Field
	// members are the layers of each field, with its place in them.
	members map[*Field][]member
}

// member is a place in a layer.
type member struct{ layer, index int }

var known = sync.OnceValue(func() *registry {
	r := &registry{byName: map[string]*Field{}, members: map[*Field][]member{}}
	for l := range layers {
		fs := layers[l].fields
		for i := range fs {
			f := r.byName[fs[i].Name]
			if f == nil {
				f = &fs[i]
				r.byName[f.Name] = f
				r.all = append(r.all, f)
			}
			r.members[f] = append(r.members[f], member{l, i})
		}
	}
	return r
})

// All are the fields of all layers, each once, from the frame upwards.
func All() []*Field { return known().all }

// Names are the names of all fields, in the order of [All].
func Names() []string {
	names := make([]string, 0, len(All()))
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// Find returns the field of a name, or nil.
func Find(name string) *Field { return known().byName[name] }
