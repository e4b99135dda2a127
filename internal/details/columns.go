package details

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/visible"
	"github.com/iwdissect/iwdissect/trace"
)

// Layout is how -T fields lays out its columns, as -E says.
type Layout struct {
	// Header writes the names first, BOM the mark of UTF-8 before them.
	Header, BOM bool
	// Separator stands between columns, Aggregator between the values of one.
	Separator, Aggregator byte
	// Occurrence is which of several values is shown: f, l or a for the first, the last or
	// all.
	Occurrence byte
	// Quote stands around values, if it is not 0.
	Quote byte
	// Escape writes control characters as in C.
	Escape bool
}

// DefaultLayout is that of tshark.
func DefaultLayout() Layout {
	return Layout{Separator: '\t', Aggregator: ',', Occurrence: 'a', Escape: true}
}

// errLayout tells what -E takes.
var errLayout = errors.New("it takes header=y|n, separator=/t|/s|CHARACTER, occurrence=f|l|a, aggregator=,|/s|CHARACTER, quote=d|s|n, bom=y|n and escape=y|n")

// Set reads one option of -E.
func (l *Layout) Set(option string) error {
	name, v, ok := strings.Cut(option, "=")
	if !ok || v == "" {
		return fmt.Errorf("%q is no option: %w", option, errLayout)
	}
	yes := v == "y"
	var err error
	switch name {
	case "header":
		l.Header, err = yes, oneOf(option, v, "yn")
	case "bom":
		l.BOM, err = yes, oneOf(option, v, "yn")
	case "escape":
		l.Escape, err = yes, oneOf(option, v, "yn")
	case "separator":
		l.Separator, err = character(option, v)
	case "aggregator":
		l.Aggregator, err = character(option, v)
	case "occurrence":
		l.Occurrence, err = v[0], oneOf(option, v, "fla")
	case "quote":
		l.Quote, err = map[string]byte{"d": '"', "s": '\''}[v], oneOf(option, v, "dsn")
	default:
		return fmt.Errorf("there is no option %q: %w", name, errLayout)
	}
	return err
}

func oneOf(option, v, letters string) error {
	if len(v) == 1 && strings.Contains(letters, v) {
		return nil
	}
	return fmt.Errorf("%q has a wrong value: %w", option, errLayout)
}

func character(option, v string) (byte, error) {
	switch {
	case v == "/t" || v == `\t`:
		return '\t', nil
	case v == "/s":
		return ' ', nil
	case len(v) == 1 && v[0] >= 0x20 && v[0] < 0x7f:
		return v[0], nil
	}
	return 0, fmt.Errorf("%q is not one character: %w", option, errLayout)
}

// Columns writes a line of values for each frame: the form of tshark -T fields. It takes in
// all frames of a capture, and writes those that it is told of as a sink.
type Columns struct {
	out    Output
	layout Layout
	names  []string
	// show are the columns: which slot of the row, and the field.
	show []column
	list []*fields.Field
	c    *fields.Collector
	head bool
	// related: a column has what earlier PDUs say, also of those that are not shown.
	related bool
	// objects is the form if it is not lines: json or ek.
	objects string
	n       int
	text    []byte // scratch
}

type column struct {
	field *fields.Field
	slot  int
	// name stands for each value, if it is not empty.
	name string
}

// text appends a value of the column.
func (c *column) text(b []byte, v fields.Value) []byte {
	if c.name != "" {
		return append(b, c.name...)
	}
	return fields.AppendColumn(b, c.field, v)
}

// NewColumns makes a writer of fields, of which several may be the same.
func NewColumns(w io.Writer, l Layout, list []*fields.Field, live bool) *Columns {
	k := &Columns{layout: l}
	k.out.w, k.out.live = w, live
	slots := map[*fields.Field]int{}
	for _, f := range list {
		slot, ok := slots[f]
		if !ok {
			slot = len(k.list)
			slots[f] = slot
			k.list = append(k.list, f)
		}
		shown, name := fields.ShownAs(f)
		k.show = append(k.show, column{shown, slot, name})
		k.names = append(k.names, f.Name)
	}
	k.c = fields.NewCollector(k.list)
	k.c.Titles()
	k.related = fields.OfMessages(k.list)
	return k
}

// Absolute shows sequence numbers as they stand in the header.
func (k *Columns) Absolute() { k.c.Absolute() }

// Describe has it know how a PDU is told in a line, for the column Info of a packet list.
func (k *Columns) Describe(line func(b []byte, p *trace.PDU) []byte) { k.c.Describe(line) }

// Objects has it write objects with the columns as members, in the form of tshark -T json or
// ek; fields stands for lines.
func (k *Columns) Objects(form string) {
	if form == "json" || form == "ek" {
		k.objects = form
	}
}

// Use has it know what an earlier run over the same capture found. It is called before the
// first frame of each capture; nil stands for nothing.
func (k *Columns) Use(h *fields.Hindsight) { k.c.Use(h) }

// Finding takes in a finding of the frame.
func (k *Columns) Finding(f *fields.Finding) { k.c.Finding(f) }

// NeedsFrame reports whether more is asked for than the headers of frames and PDUs say.
func (k *Columns) NeedsFrame() bool { return k.c.NeedsFrame() }

// NeedsInterfaces reports whether the interfaces of the capture are asked for.
func (k *Columns) NeedsInterfaces() bool { return k.c.NeedsInterfaces() }

// Capture begins a capture.
func (k *Columns) Capture(_ string, interfaces func() []pcapng.Interface) {
	k.c.Fresh()
	k.c.Interfaces(interfaces)
}

// Opened takes in a frame, also one that is not shown.
func (k *Columns) Opened(f *pipeline.Frame) { k.c.Opened(f) }

// PDU implements [trace.Sink].
func (k *Columns) PDU(p *trace.PDU) { k.c.PDU(p) }

// Skipped takes in a PDU that is not shown.
func (k *Columns) Skipped(p *trace.PDU) {
	if k.related {
		k.c.PDU(p)
	}
}

// Transaction implements [trace.Sink].
func (k *Columns) Transaction(t *trace.Transaction) { k.c.Transaction(t) }

// Gap implements [trace.Sink].
func (*Columns) Gap(*trace.GapEvent) {}

// Frame implements [pipeline.Sink].
func (k *Columns) Frame(f *pipeline.Frame) {
	k.begin()
	k.c.Frame(f)
	if k.objects != "" {
		k.object(f)
		k.c.Shown()
		k.out.done()
		return
	}
	row, b := k.c.Row(), k.out.b
	from := len(b)
	for i := range k.show {
		if i > 0 {
			b = append(b, k.layout.Separator)
		}
		b = k.value(b, &k.show[i], row.Values(k.show[i].slot))
	}
	k.out.b = append(k.commandless(b, from), '\n')
	k.c.Shown()
	k.out.done()
}

// value writes the values of a column.
func (k *Columns) value(b []byte, c *column, vs []fields.Value) []byte {
	if len(vs) == 0 {
		return b
	}
	switch k.layout.Occurrence {
	case 'f':
		vs = vs[:1]
	case 'l':
		vs = vs[len(vs)-1:]
	}
	quote := k.layout.Quote
	if quote != 0 {
		b = append(b, quote)
	}
	for i := range vs {
		if i > 0 {
			b = append(b, k.layout.Aggregator)
		}
		from := len(b)
		b = c.text(b, vs[i])
		if c.field.Type == fields.Text {
			b = visible.Defuse(k.escape(b, from), from, k.hidden(`\x5b`))
		}
	}
	if quote != 0 {
		b = append(b, quote)
	}
	return b
}

// hidden is what stands in place of a character that a build service would obey: its escape,
// or a space.
func (k *Columns) hidden(escape string) string {
	if k.layout.Escape {
		return escape
	}
	return " "
}

// commandless keeps a line from being a command of GitHub, which begins with two colons. So does
// an address of IPv6, which stays as it is.
func (k *Columns) commandless(b []byte, from int) []byte {
	line := bytes.TrimLeftFunc(b[from:], unicode.IsSpace)
	if !bytes.HasPrefix(line, []byte("::")) {
		return b
	}
	end := bytes.IndexAny(line, string([]byte{k.layout.Separator, k.layout.Aggregator}))
	if end < 0 {
		end = len(line)
	}
	if _, err := netip.ParseAddr(string(line[:end])); err == nil {
		return b
	}
	at := len(b) - len(line)
	return slices.Replace(b, at, at+1, []byte(k.hidden(`\x3a`))...)
}

// escape makes the text from a place on fit for a column.
func (k *Columns) escape(b []byte, from int) []byte {
	plain := true
	for _, c := range b[from:] {
		if c < 0x20 || c == 0x7f || c == '\\' || c == k.layout.Quote && c != 0 || c >= 0x80 {
			plain = false
			break
		}
	}
	if plain {
		return b
	}
	k.text = AppendColumnText(k.text[:0], b[from:], k.layout.Quote, k.layout.Escape)
	return append(b[:from], k.text...)
}

// Close writes what was collected, and returns the first error that writing had.
func (k *Columns) Close() error {
	k.begin()
	if k.objects == "json" {
		k.out.str("\n]\n")
	}
	return k.out.Flush()
}

func (k *Columns) begin() {
	if k.head {
		return
	}
	k.head = true
	if k.objects != "" {
		if k.objects == "json" {
			k.out.str("[")
		}
		return
	}
	if k.layout.BOM {
		k.out.str("\ufeff")
	}
	if !k.layout.Header {
		return
	}
	for i, n := range k.names {
		if i > 0 {
			k.out.b = append(k.out.b, k.layout.Separator)
		}
		k.out.str(n) // without quotes, as tshark has it
	}
	k.out.str("\n")
}
