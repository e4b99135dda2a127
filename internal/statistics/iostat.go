package statistics

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// calculation is what io,stat does with the values of a field.
type calculation uint8

const (
	framesAndBytes calculation = iota
	calcFrames
	calcBytes
	calcCount
	calcSum
	calcMin
	calcMax
	calcAvg
	calcLoad
)

// calculations are their names, as tshark has them.
var calculations = [...]string{"", "FRAMES", "BYTES", "COUNT", "SUM", "MIN", "MAX", "AVG", "LOAD"}

// ioSpec is a column that was asked for.
type ioSpec struct {
	text    string // as it was given, "" for all frames
	calc    calculation
	field   *fields.Field
	matcher *matcher
}

// maxIntervals bounds the rows of io,stat.
const maxIntervals = 1 << 20

// makeIOStat reads "interval[,column]...".
func makeIOStat(s *spec, args string) error {
	text, rest, more := cut(args)
	interval, places, err := parseInterval(text)
	if err != nil {
		return err
	}
	var specs []ioSpec
	for more {
		text, rest, more = cut(rest)
		c, err := parseColumn(text)
		if err != nil {
			return err
		}
		specs = append(specs, c)
	}
	if len(specs) == 0 {
		specs = []ioSpec{{}}
	}
	s.taps = func(*spec) []tap {
		io := &ioStat{interval: interval, places: places}
		all := []tap{io}
		for _, c := range specs {
			col := &ioColumn{spec: c, of: io, slots: make([]ioSlot, 1, 64)}
			io.columns = append(io.columns, col)
			switch {
			case c.calc > calcBytes:
				all = append(all, &ioValues{col})
			default:
				all = append(all, &ioFrames{col})
			}
		}
		return all
	}
	return nil
}

// parseInterval reads an interval in seconds, in nanoseconds, and how many decimals it was
// given with. 0 is the whole capture.
func parseInterval(text string) (ns int64, places int, err error) {
	if text == "" {
		return 0, 0, errors.New("it takes an interval in seconds, such as io,stat,1")
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 || math.IsNaN(v) || v > 1e9 {
		return 0, 0, fmt.Errorf("%q is no interval in seconds, such as 1 or 0.001", text)
	}
	if v > 0 && v < 1e-6 {
		return 0, 0, fmt.Errorf("the interval %s is below a microsecond", text)
	}
	us := int64(math.Round(v * 1e6))
	for div := int64(1e6); places < 6 && us%div != 0; places++ {
		div /= 10
	}
	return us * 1000, places, nil
}

// column reads a filter, or a calculation with a filter behind it.
func parseColumn(text string) (ioSpec, error) {
	c := ioSpec{text: text}
	filter := strings.TrimSpace(text)
	if name, rest, ok := strings.Cut(filter, "("); ok {
		if i := slices.Index(calculations[1:], strings.TrimSpace(name)); i >= 0 {
			c.calc = calculation(i + 1) //nolint:gosec // one of nine
			name, behind, closed := strings.Cut(rest, ")")
			if !closed {
				return c, fmt.Errorf("a closing parenthesis is missing in %q", text)
			}
			filter = strings.TrimSpace(behind)
			if err := c.calculated(strings.TrimSpace(name)); err != nil {
				return c, err
			}
		}
	}
	var err error
	c.matcher, err = newMatcher(filter, c.field)
	return c, err
}

// calculated finds the field of a calculation and checks that it can be calculated with.
func (c *ioSpec) calculated(name string) error {
	what := calculations[c.calc]
	if c.calc <= calcBytes {
		if name != "" {
			return fmt.Errorf("%s takes no field, write %s()", what, what)
		}
		return nil
	}
	if name == "" {
		return fmt.Errorf("%s takes a field, such as %s(frame.len)", what, what)
	}
	f, err := field(name)
	if err != nil {
		return err
	}
	c.field = f
	switch f.Type {
	case fields.Uint, fields.Int, fields.Frame:
		if c.calc != calcLoad {
			return nil
		}
	case fields.Duration:
		return nil
	case fields.Float:
		if c.calc != calcLoad {
			return nil
		}
	default:
		if c.calc == calcCount {
			return nil
		}
	}
	return fmt.Errorf("%s cannot be taken of %s, which is of type %v", what, f.Name, f.Type)
}

// ioSlot is a column in an interval.
type ioSlot struct {
	frames, octets uint64
	// n values have the sum, or the least or largest of them; real is for floats.
	n    uint64
	sum  int64
	real float64
}

// ioSlotWeight is what a slot takes, in octets: a slice that grows has room for about twice as many.
const ioSlotWeight = 2 * int(unsafe.Sizeof(ioSlot{}))

// ioColumn is a column.
type ioColumn struct {
	spec  ioSpec
	of    *ioStat
	slots []ioSlot
}

func (c *ioColumn) report() *Report   { return nil }
func (c *ioColumn) matcher() *matcher { return c.spec.matcher }

// slot returns the place of a frame, nil if there is none.
func (c *ioColumn) slot(f *pipeline.Frame) *ioSlot {
	at, timed := c.of.clock.at(f)
	n := int64(0)
	iv := c.of.interval
	if iv > 0 && !timed {
		return nil
	}
	if iv > 0 && at > 0 {
		// To the microsecond, as tshark has it.
		if n = (at + 500) / 1000 * 1000 / iv; n >= maxIntervals {
			c.of.omitted++
			return nil
		}
	}
	if more := int(n) + 1 - len(c.slots); more > 0 {
		if !c.of.room.take(more * ioSlotWeight) {
			c.of.full = true
			c.of.omitted++
			return nil
		}
		c.slots = append(c.slots, make([]ioSlot, more)...)
	}
	return &c.slots[n]
}

// ioFrames is a column that counts frames and their octets.
type ioFrames struct{ *ioColumn }

func (ioFrames) onlyTimes() {}

func (c *ioFrames) frame(f *pipeline.Frame) {
	if s := c.slot(f); s != nil {
		s.frames++
		s.octets += uint64(f.OrigLen)
	}
}

// ioValues is a column that calculates with the values of a field.
type ioValues struct{ *ioColumn }

func (c *ioValues) values(f *pipeline.Frame, m *matcher) {
	s := c.slot(f)
	if s == nil {
		return
	}
	s.frames++
	for _, v := range m.values() {
		c.value(f, s, v)
	}
}

func (c *ioValues) value(f *pipeline.Frame, s *ioSlot, v fields.Value) {
	num, point := int64(v.Num), float64(0) //nolint:gosec // wraps as in tshark
	if c.spec.field.Type == fields.Float {
		point = math.Float64frombits(v.Num)
	}
	switch c.spec.calc {
	case calcSum, calcAvg:
		s.sum += num
		s.real += point
	case calcMin:
		if s.n == 0 || c.below(num, s.sum) {
			s.sum = num
		}
		if s.n == 0 || point < s.real {
			s.real = point
		}
	case calcMax:
		if s.n == 0 || c.below(s.sum, num) {
			s.sum = num
		}
		if s.n == 0 || point > s.real {
			s.real = point
		}
	case calcLoad:
		c.load(f, num)
	default:
	}
	s.n++
}

// below compares two values of the field.
func (c *ioValues) below(a, b int64) bool {
	if t := c.spec.field.Type; t == fields.Int || t == fields.Duration {
		return a < b
	}
	return uint64(a) < uint64(b) //nolint:gosec // it was unsigned
}

// load spreads a duration that ends with a frame over the intervals that it was in.
func (c *ioValues) load(f *pipeline.Frame, ns int64) {
	to, timed := c.of.clock.at(f)
	if !timed || ns <= 0 {
		return
	}
	iv := c.of.interval
	if iv == 0 {
		c.slots[0].sum += ns
		return
	}
	to = max((to+500)/1000*1000, 0)
	for ns > 0 {
		n := to / iv
		if end := int64(len(c.slots)); n >= end && to > end*iv { // there was no room for these
			ns, to, n = ns-(to-end*iv), end*iv, end
			if ns <= 0 {
				return
			}
		}
		part := min(ns, to-n*iv)
		if part == 0 { // the end of an interval is the start of the next
			if n == 0 {
				return
			}
			n, part = n-1, min(ns, iv)
		}
		if n < int64(len(c.slots)) {
			c.slots[n].sum += part
		}
		to, ns = to-part, ns-part
	}
}

// ioStat is all of an io,stat.
type ioStat struct {
	clock    *clock
	interval int64 // in nanoseconds, 0 for the whole capture
	places   int   // decimals of it
	columns  []*ioColumn
	omitted  uint64
	room     *room
	// full: there was no room for all intervals.
	full bool
}

func (io *ioStat) keeps(k *clock)  { io.clock = k }
func (io *ioStat) keepsIn(r *room) { io.room = r }
func (io *ioStat) onlyTimes()      {}

// value is what a column shows of an interval, whole and as a float.
func (c *ioColumn) value(s *ioSlot) (whole int64, point float64) {
	switch c.spec.calc {
	case framesAndBytes, calcFrames:
		return int64(s.frames), 0 //nolint:gosec // a count
	case calcBytes:
		return int64(s.octets), 0 //nolint:gosec // a count
	case calcCount:
		return int64(s.n), 0 //nolint:gosec // a count
	case calcAvg:
		if s.n == 0 {
			return 0, 0
		}
		if c.isUnsigned() {
			return int64(uint64(s.sum) / s.n), s.real / float64(s.n) //nolint:gosec // as it was
		}
		return s.sum / int64(s.n), s.real / float64(s.n) //nolint:gosec // a count
	default:
		return s.sum, s.real
	}
}

func (c *ioColumn) isUnsigned() bool {
	t := c.spec.field.Type
	return t == fields.Uint || t == fields.Frame
}

// is reports whether a column shows values of a type.
func (c *ioColumn) is(t fields.Type) bool {
	return c.spec.calc > calcCount && c.spec.field.Type == t
}

// rows is how many intervals there are, how long each is, and how long the capture took, in
// nanoseconds to the microsecond.
func (io *ioStat) rows() (n int, interval, duration int64) {
	if io.clock.timeless() {
		if io.interval == 0 {
			n = 1
		}
		return n, io.interval, 0
	}
	duration = max((io.clock.duration()+500)/1000*1000, 0)
	if interval = io.interval; interval == 0 || interval > duration {
		return 1, duration, duration
	}
	if n = 1; !io.full {
		n = int(min((duration+interval-1)/interval, maxIntervals))
	}
	for _, c := range io.columns {
		n = max(n, len(c.slots))
	}
	return n, interval, duration
}

// at is a column in an interval; empty where there was nothing.
func (c *ioColumn) at(n int) *ioSlot {
	if n < len(c.slots) {
		return &c.slots[n]
	}
	return new(ioSlot)
}

func (io *ioStat) report() *Report {
	r := &Report{Name: "io,stat", Title: "IO Statistics", text: io.text, fill: io.fill}
	n, interval, duration := io.rows()
	if n == 1 {
		interval = duration
	}
	r.Facts = []Fact{
		{Column{"duration_ns", "Duration", Nanoseconds}, io.clock.known(duration)},
		{Column{"interval_ns", "Interval", Nanoseconds}, interval},
	}
	if interval == 0 {
		r.Facts[1].Value = io.clock.known(0)
	}
	if io.interval > 0 || io.clock.timeless() {
		io.clock.lacks(r)
	}
	if io.omitted > 0 {
		r.note(fmt.Sprintf("%d frames behind the first %d intervals are left out; choose a longer interval", io.omitted, n))
	}
	return r
}

// fill makes the tables for programs: the columns, and each column in each interval.
func (io *ioStat) fill(r *Report) {
	cols := Table{Key: "columns", Columns: []Column{{"column", "column", Count}, {"filter", "filter", Plain}, {"calculation", "calculation", Plain}, {"field", "field", Plain}}}
	rows := Table{Key: "intervals", Columns: []Column{
		{"from_ns", "from", Nanoseconds},
		{"to_ns", "to", Nanoseconds},
		{"column", "column", Count},
		{"frames", "frames", Count},
		{"octets", "octets", Octets},
		{"value", "value", Count},
		{"value_ns", "value", Nanoseconds},
	}}
	for i, c := range io.columns {
		var calc, field any
		if c.spec.calc != framesAndBytes {
			calc = calculations[c.spec.calc]
		}
		if c.spec.field != nil {
			field = c.spec.field.Name
		}
		cols.add(uint64(i+1), c.spec.text, calc, field)
	}
	rows.each = io.lines
	r.Tables = []Table{cols, rows}
}

// lines are the rows of each column in each interval.
func (io *ioStat) lines(yield func([]any) bool) {
	n, interval, duration := io.rows()
	var line [7]any
	for row := range n {
		from := int64(row) * interval
		to := from + interval
		if row == n-1 {
			to = max(duration, from)
		}
		for i, c := range io.columns {
			s := c.at(row)
			line = [...]any{io.clock.known(from), io.clock.known(to), uint64(i + 1), s.frames, nil, nil, nil}
			if c.spec.calc <= calcBytes {
				line[4] = s.octets
			} else if s.n > 0 || c.spec.calc == calcCount || c.spec.calc == calcLoad && !io.clock.timeless() {
				c.exact(s, interval, line[:])
			}
			if !yield(line[:]) {
				return
			}
		}
	}
}

// exact puts the value of a column into a row of the table.
func (c *ioColumn) exact(s *ioSlot, interval int64, line []any) {
	whole, point := c.value(s)
	switch {
	case c.spec.calc == calcLoad:
		line[5] = float64(s.sum) / float64(max(interval, 1))
	case c.is(fields.Float):
		line[5] = point
	case c.is(fields.Duration):
		line[6] = whole
	case c.spec.calc == calcAvg && c.isUnsigned():
		line[5] = float64(uint64(s.sum)) / float64(s.n) //nolint:gosec // as it was
	case c.spec.calc == calcAvg:
		line[5] = float64(s.sum) / float64(s.n)
	case c.spec.calc == calcCount || c.isUnsigned():
		line[5] = uint64(whole) //nolint:gosec // as it was
	default:
		line[5] = whole
	}
}
