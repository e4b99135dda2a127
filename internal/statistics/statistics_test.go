package statistics

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/waits"
	"github.com/iwdissect/iwdissect/trace"
)

// gather makes a run of one statistic.
func gather(t *testing.T, arg string) *Run {
	t.Helper()
	s, err := Parse([]string{arg})
	if err != nil {
		t.Fatal(err)
	}
	return s.Gather(Only{})
}

// epoch is when the captures of the tests begin.
const epoch = int64(1_700_000_000_000_000_000)

// frames tells a run of frames at times in nanoseconds, each of 100 octets.
func frames(r *Run, times ...int64) {
	for i, ns := range times {
		f := &pipeline.Frame{Frame: capture.Frame{Number: uint64(i + 1), Time: epoch + ns, OrigLen: 100}, Packet: &packet.Packet{}}
		r.Saw(f.Number, f.Time)
		r.Frame(f)
	}
}

func text(t *testing.T, r *Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r.Reports()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const second = int64(1e9)

// TestIOStat has the rows of the table, for lengths and intervals of all sizes.
func TestIOStat(t *testing.T) {
	for _, tt := range []struct {
		name, arg string
		times     []int64
		rows      []string
	}{
		{"no time passes", "io,stat,0", []int64{0}, []string{"| 0.000 <> 0.000 |      1 |   100 |"}},
		{"the frame at the end counts", "io,stat,1", []int64{0, second, 3 * second}, []string{
			"|  0 <> 1  |      1 |   100 |", "|  1 <> 2  |      1 |   100 |", "|  2 <> 3  |      0 |     0 |", "|  3 <> Dur|      1 |   100 |",
		}},
		{"the clock steps back", "io,stat,0.5", []int64{0, 2 * second, second, 2*second + 1000}, []string{
			"| 0.0 <> 0.5 |      1 |   100 |", "| 0.5 <> 1.0 |      0 |     0 |", "| 1.0 <> 1.5 |      1 |   100 |", "| 1.5 <> 2.0 |      0 |     0 |", "| 2.0 <> 2.0 |      2 |   200 |",
		}},
		{"before the first frame", "io,stat,1", []int64{second, 0, 2*second + second/2}, []string{"|  0 <> 1  |      2 |   200 |", "|  1 <> Dur|      1 |   100 |"}},
		{"to the microsecond", "io,stat,1", []int64{0, 999_999_600, 2*second - 1000}, []string{"|  0 <> 1  |      1 |   100 |", "|  1 <> Dur|      2 |   200 |"}},
		{"longer than the capture", "io,stat,60", []int64{0, second / 4}, []string{"| 0.000 <> 0.250 |      2 |   200 |"}},
		{"rounded into another digit", "io,stat,0", []int64{0, 99960 * second / 1000}, []string{"|   0.0 <> 100.0 |      2 |   200 |"}},
		{"two digits", "io,stat,3", []int64{0, 3 * second, 12*second + 1000}, []string{
			"|  0 <>  3 |      1 |   100 |", "|  3 <>  6 |      1 |   100 |", "|  6 <>  9 |      0 |     0 |", "|  9 <> 12 |      0 |     0 |", "| 12 <> Dur|      1 |   100 |",
		}},
		{"two columns", "io,stat,1,FRAMES(),BYTES()", []int64{0, second / 2}, []string{"| 0.000 <> 0.500 |      2 |   200 |"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := gather(t, tt.arg)
			frames(r, tt.times...)
			out := text(t, r)
			var rows []string
			width := 0
			for line := range strings.Lines(out) {
				line = strings.TrimRight(line, "\n")
				if strings.Contains(line, "<>") {
					rows = append(rows, line)
				}
				if line != "" && width != 0 && len(line) != width {
					t.Errorf("a line of %d and not %d octets:\n%s", len(line), width, out)
				}
				width = max(width, len(line))
			}
			want := strings.Join(tt.rows, "\n")
			if got := strings.Join(rows, "\n"); !same(got, want) {
				t.Errorf("got\n%s\nwant\n%s\n%s", got, want, out)
			}
		})
	}
}

// same compares rows, to which a filler may have been added.
func same(got, want string) bool {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		return false
	}
	for i := range g {
		if !strings.HasPrefix(g[i], w[i]) {
			return false
		}
	}
	return true
}

// TestIOStat_Bounded: a clock that jumps by years takes no memory for the years.
func TestIOStat_Bounded(t *testing.T) {
	r := gather(t, "io,stat,0.001")
	frames(r, 0, 10*365*24*3600*second, 1000)
	rep := r.Reports()[0]
	if n := len(rep.Notes); n != 1 || !strings.Contains(rep.Notes[0], "1 frame") {
		t.Errorf("%q", rep.Notes)
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ arg, want string }{
		{"conv,tcp", ""},
		{"conv", ""},
		{"conv,tcp,tcp.port == 5445 && ip.addr in {10.0.0.1, 10.0.0.2}", ""},
		{"io,stat,1,tcp.port in {1, 2},SUM(frame.len)tcp", ""},
		{"rdma,depth,0.5,tcp", ""},
		{"rdma,rate,iwarp_rdma", ""},
		{"expert,warn,tcp", ""},
		{"expert,tcp", ""},
		{"rdma,str", "no statistic is called \"rdma,str\"; did you mean rdma,srt? (-z help lists all)"},
		{"rpc,programs", "no statistic is called \"rpc,programs\"; did you mean ulp,srt? (-z help lists all)"},
		{"srt", "no statistic is called \"srt\"; did you mean rdma,srt? (-z help lists all)"},
		{"conv,tpc", "no statistic is called \"conv,tpc\"; did you mean conv,tcp? (-z help lists all)"},
		{"io", "no statistic is called \"io\"; did you mean io,phs or io,stat? (-z help lists all)"},
		{"nonsense", "no statistic is called \"nonsense\" (-z help lists all)"},
		{"", "no statistic is called \"\" (-z help lists all)"},
		{"expert,eror", "-z expert,eror: no field is named eror; severities are error, warn and note\n  eror\n  ^^^^"},
		{"conv,foo", "-z conv,foo: no field is named foo; types are eth, ip, ipv6, sctp, tcp and udp\n  foo\n  ^^^"},
		{"conv,tcp,foo", "-z conv,tcp,foo: no field is named foo\n  foo\n  ^^^"},
		{"io,stat", "-z io,stat: it takes an interval in seconds, such as io,stat,1"},
		{"io,stat,x", "-z io,stat,x: \"x\" is no interval in seconds, such as 1 or 0.001"},
		{"io,stat,-1", "-z io,stat,-1: \"-1\" is no interval in seconds, such as 1 or 0.001"},
		{"io,stat,1e-9", "-z io,stat,1e-9: the interval 1e-9 is below a microsecond"},
		{"io,stat,1,SUM(frame.len", "-z io,stat,1,SUM(frame.len: a closing parenthesis is missing in \"SUM(frame.len\""},
		{"io,stat,1,SUM()tcp", "-z io,stat,1,SUM()tcp: SUM takes a field, such as SUM(frame.len)"},
		{"io,stat,1,FRAMES(tcp)", "-z io,stat,1,FRAMES(tcp): FRAMES takes no field, write FRAMES()"},
		{"io,stat,1,SUM(frame.length)", "-z io,stat,1,SUM(frame.length): no field is called \"frame.length\"; did you mean frame.len?"},
		{"io,stat,1,SUM(ip.src)", "-z io,stat,1,SUM(ip.src): SUM cannot be taken of ip.src, which is of type ipv4"},
		{"io,stat,1,LOAD(frame.len)", "-z io,stat,1,LOAD(frame.len): LOAD cannot be taken of frame.len, which is of type unsigned"},
	} {
		_, err := Parse([]string{tt.arg})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.arg, got, tt.want)
		}
	}
}

// TestKinds: each kind can be made, is described, and reports something of nothing.
func TestKinds(t *testing.T) {
	for _, k := range Kinds() {
		arg := k.Name
		if arg == "io,stat" {
			arg += ",1"
		}
		if k.Usage == "" || k.Says == "" || !strings.HasPrefix(k.Usage, k.Name) {
			t.Errorf("%+v", k)
		}
		r := gather(t, arg)
		r.Finish()
		for _, format := range []func() error{
			func() error { return Text(new(bytes.Buffer), r.Reports()) },
			func() error { return JSON(new(bytes.Buffer), r.Reports()) },
			func() error { return (&CSVWriter{W: new(bytes.Buffer)}).Write("x", r.Reports()) },
		} {
			if err := format(); err != nil {
				t.Errorf("%s: %v", arg, err)
			}
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct{ in, part, rest string }{
		{"a,b,c", "a", "b,c"},
		{"x in {1,2},b", "x in {1,2}", "b"},
		{`x == "a,\",b",c`, `x == "a,\",b"`, "c"},
		{"f(a,b)[1,2],c", "f(a,b)[1,2]", "c"},
		{"),b", ")", "b"},
		{"a", "a", ""},
	} {
		if part, rest, _ := cut(tt.in); part != tt.part || rest != tt.rest {
			t.Errorf("%q: %q and %q", tt.in, part, rest)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 bytes", 9999: "9999 bytes", 10_000: "10 kB", 10_999: "10 kB", 9_999_999: "9999 kB",
		10_000_000: "10 MB", 12_345_678_901: "12 GB", 123_456_789_012_345_678: "123456 TB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestHistogram_Buckets(t *testing.T) {
	var h histogram
	for _, v := range []int64{0, 1, 2, 3, 4, 31, 32, 63, 64, 1000} {
		h.Add(v)
	}
	want := []bucket{{0, 1, 1}, {1, 2, 1}, {2, 4, 2}, {4, 8, 1}, {16, 32, 1}, {32, 64, 2}, {64, 128, 1}, {512, 1024, 1}}
	if d := cmp.Diff(want, h.buckets(), cmp.AllowUnexported(bucket{})); d != "" {
		t.Error(d)
	}
	if h.mean() != 120 { // 1200 in 10
		t.Errorf("mean %d", h.mean())
	}
}

// TestSeries: the interval grows tenfold, and nothing is lost.
func TestSeries(t *testing.T) {
	s := newSeries(0, func(to, from *int) { *to += *from })
	for i := range int64(1000) { // one each 0.1 ms
		*s.at(i * leastInterval)++
	}
	if s.interval != 1e6 || len(s.slots) != 100 || s.slots[0] != 10 || s.slots[99] != 10 {
		t.Errorf("%d ns, %v", s.interval, s.slots)
	}
	*s.at(3600 * second)++
	sum := 0
	for _, n := range s.slots {
		sum += n
	}
	if s.interval != 100*second || sum != 1001 || s.slots[0] != 1000 {
		t.Errorf("%d ns, %v", s.interval, s.slots)
	}
}

// TestTable: beyond its limit connections are counted once each.
func TestTable(t *testing.T) {
	tab := table[int]{limit: 2}
	for range 3 {
		for _, n := range []uint64{7, 3, 5, 9} {
			if v := tab.of(n); v != nil {
				*v++
			}
		}
	}
	if d := cmp.Diff([]int{3, 3}, tab.rows); d != "" || tab.omitted != 2 || tab.has(5) != nil || tab.has(8) != nil || *tab.has(7) != 3 {
		t.Errorf("%v, %d omitted: %s", tab.rows, tab.omitted, d)
	}
}

// conn is a connection for events.
func conn(n uint64) *trace.Connection {
	c := &trace.Connection{Number: n, Transport: trace.TCP, IsMPA: true, Outcome: trace.Accepted}
	c.Side[0].Addr, c.Side[1].Addr = netip.MustParseAddrPort("10.0.0.1:4000"), netip.MustParseAddrPort("10.0.0.2:5001")
	return c
}

// rows are those of a table of the first report.
func rows(t *testing.T, tp tap, key string) (all []string) {
	t.Helper()
	for _, tab := range tp.report().tables() {
		if tab.Key != key {
			continue
		}
		for row := range tab.rows() {
			line := make([]string, len(row))
			for i, v := range row {
				line[i] = raw(v)
			}
			all = append(all, strings.Join(line, " "))
		}
	}
	return all
}

// TestSRT_Sends: the answer to a Send is the next one of the other side; of several that
// wait the oldest is answered first.
func TestSRT_Sends(t *testing.T) {
	tp := &rdmaTimes{responses: newResponses("rdma,srt", "", "", "Startup", "RDMA Read", "Atomic", "Send to Send")}
	c := conn(0)
	for i, s := range []struct {
		dir trace.Dir
		at  int64
	}{{0, 10}, {0, 20}, {1, 100}, {1, 130}, {1, 200}, {0, 500}, {0, 900}} {
		tp.event(&event{is: aPDU, conn: c, dir: s.dir, waits: waits.Event{Time: s.at}, frame: uint64(i) + 1, hasOp: true, op: rdmap.OpSend, done: true})
	}
	// 10 to 100, 20 to 130, 200 to 500 in frame 6; the last one waits.
	want := []string{"Send to Send 3 90 166 111 300 300 300 500 6"}
	if d := cmp.Diff(want, rows(t, tp, "operations")); d != "" {
		t.Error(d)
	}
	for range maxTurns + 5 {
		tp.event(&event{is: aPDU, conn: c, waits: waits.Event{Time: 1000}, hasOp: true, op: rdmap.OpSendSE, done: true})
	}
	if tp.unpaired != 6 { // one waited
		t.Errorf("%d without a pair", tp.unpaired)
	}
}

// outstanding is a PDU with which so many requests wait.
func outstanding(c *trace.Connection, at int64, n int32) *event {
	f := &c.Flow[trace.I2R]
	if now := f.Requests - f.Answered; uint64(n) > now {
		f.Requests += uint64(n) - now
	} else {
		f.Answered += now - uint64(n)
	}
	e := new(event)
	e.set(&trace.PDU{Conn: c, Time: at, Kind: trace.KindFPDU})
	return e
}

// TestDepth: the mean is weighted with time, and the time at the limit counted.
func TestDepth(t *testing.T) {
	r := gather(t, "rdma,depth")
	r.Saw(1, epoch)
	tp := r.taps[0].(*depths)
	c := conn(3)
	c.Side[0].HasEnhanced, c.Side[1].HasEnhanced = true, true
	c.Side[0].Enhanced, c.Side[1].Enhanced = mpa.Enhanced{ORD: 2}, mpa.Enhanced{IRD: 2, ORD: 4}
	for _, s := range []struct {
		at int64
		n  int32
	}{{0, 1}, {100, 2}, {300, 3}, {400, 2}, {500, 0}, {900, 1}, {1000, 0}} {
		tp.event(outstanding(c, epoch+s.at, s.n))
	}
	c.LastTime = epoch + 1000
	tp.conn(c)
	// Waiting for 600 ns: 100 with 1, 200 with 2, 100 with 3, 100 with 2, 100 with 1 = 1100; at
	// the limit or above for 400.
	want := []string{"3 10.0.0.1:4000 10.0.0.2:5001 i2r 2 4 3 1.8333333333333333 600 400 66.66666666666666 1"}
	if d := cmp.Diff(want, rows(t, tp, "connections")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"0 100000 4 4 3 3"}, rows(t, tp, "intervals")); d != "" {
		t.Error(d)
	}
}

// TestDepth_Intervals: what waits at the start of an interval counts in it, for one direction as for
// all of them, and what is never answered waits until its connection or the capture ends.
func TestDepth_Intervals(t *testing.T) {
	r := gather(t, "rdma,depth,0.001")
	r.Saw(1, epoch)
	tp := r.taps[0].(*depths)
	const ms = 1_000_000
	at := func(c *trace.Connection, at int64, n int32) {
		tp.event(outstanding(c, epoch+at, n))
	}
	a, b := conn(1), conn(2)
	a.Ending, a.LastTime = trace.FIN, epoch+2*ms+500
	at(a, 0, 3)
	at(a, ms+1, 2)
	at(b, 3*ms, 1) // a is over, which is not known yet
	r.Saw(9, epoch+5*ms)
	tp.conn(a)
	b.LastTime = epoch + 4*ms
	tp.conn(b) // still open when the capture ends
	want := []string{"0 1000000 3 0 3 3", "1000000 2000000 0 1 3 3", "2000000 3000000 0 2 2 2", "3000000 4000000 1 0 1 1", "4000000 5000000 0 0 1 1", "5000000 6000000 0 1 1 1"}
	if d := cmp.Diff(want, rows(t, tp, "intervals")); d != "" {
		t.Error(d)
	}
	want = []string{
		"1 10.0.0.1:4000 10.0.0.2:5001 i2r  3 3 2.4998755311172207 2000500   ",
		"2 10.0.0.1:4000 10.0.0.2:5001 i2r  1 1 1 2000000   ",
	}
	if d := cmp.Diff(want, rows(t, tp, "connections")); d != "" {
		t.Error(d)
	}
}

// TestDepth_Blocks: many intervals are filled with what waits in all of them.
func TestDepth_Blocks(t *testing.T) {
	r := gather(t, "rdma,depth,0.001")
	r.Saw(1, epoch)
	tp := r.taps[0].(*depths)
	c := conn(1)
	for _, s := range []struct {
		at int64
		n  int32
	}{{0, 1}, {3, 2}, {5000, 0}, {5001, 0}} {
		tp.event(outstanding(c, epoch+s.at*1_000_000, s.n))
	}
	list := rows(t, tp, "intervals")
	for i, row := range list {
		var from, to, requests, answers, one, most int
		if _, err := fmt.Sscan(row, &from, &to, &requests, &answers, &one, &most); err != nil {
			t.Fatal(err)
		}
		if want := min(1+i/3, 2); one != want || most != want {
			t.Fatalf("interval %d of %d: %q", i, len(list), row)
		}
	}
	if len(list) != 5001 {
		t.Errorf("%d intervals", len(list))
	}
}

func TestAlign(t *testing.T) {
	tp := &alignment{}
	c := conn(0)
	send := func(e event) {
		e.is, e.conn, e.pdu, e.hasOp, e.op, e.header = aPDU, c, trace.KindFPDU, true, rdmap.OpSend, 18
		tp.event(&e)
	}
	send(event{begins: true, spans: 1, payload: 100, pad: 2})
	send(event{spans: 1, payload: 50, markers: 1, badMark: 1})
	send(event{begins: true, spans: 3, payload: 4000})
	tp.frame(&pipeline.Frame{Frame: capture.Frame{OrigLen: 1514}, Conn: c, Packet: &packet.Packet{Proto: packet.ProtoTCP, PayloadLen: 1448}})
	if d := cmp.Diff([]string{"3 1 33.33333333333333 1 1 3 1 1"}, rows(t, tp, "total")); d != "" {
		t.Error(d)
	}
	// Three FPDUs of 6 octets around, 18 of headers each.
	if d := cmp.Diff([]string{"1 1514 1448 18 2 4 54 4150 274.1083223249670"}, rows(t, tp, "octets"), nearly); d != "" {
		t.Error(d)
	}
}

// nearly compares texts whose last number was computed otherwise.
var nearly = cmp.Comparer(func(a, b string) bool { return len(a) > 40 && len(b) > 40 && a[:40] == b[:40] })

func TestRate(t *testing.T) {
	r := gather(t, "rdma,rate,1")
	r.Saw(1, epoch)
	tp := r.taps[0].(*rates)
	c := conn(0)
	send := func(at int64, op rdmap.Opcode, dir trace.Dir, n int64, done bool) {
		r.Saw(2, epoch+at)
		tp.event(&event{is: aPDU, conn: c, time: epoch + at, dir: dir, hasOp: true, op: op, payload: n, done: done})
	}
	send(0, rdmap.OpWrite, 0, 1000, false)
	send(1, rdmap.OpWrite, 0, 250, true)
	send(second, rdmap.OpReadRequest, 0, 28, true) // asks, and is no operation of its own
	send(2*second, rdmap.OpReadResponse, 1, 500, true)
	// 1250 octets are 10000 bits, in 2 s.
	if d := cmp.Diff([]string{"2000000000 1250 500 5000 2000 1 1 0 0 0 1"}, rows(t, tp, "total")); d != "" {
		t.Error(d)
	}
	want := []string{
		"0 1000000000 1250 0 10000 0 1 0 0 0 0 1",
		"1000000000 2000000000 0 0 0 0 0 0 0 0 0 0",
		"2000000000 2000000000 0 500   0 1 0 0 0 ",
	}
	if d := cmp.Diff(want, rows(t, tp, "intervals")); d != "" {
		t.Error(d)
	}
}

// TestConversations: the sender of the first frame stands on the left; of equals the first
// one comes first.
func TestConversations(t *testing.T) {
	a, b := packet.Addr4(10, 0, 0, 9), packet.Addr4(10, 0, 0, 1)
	r := gather(t, "conv,tcp")
	add := func(n uint64, at int64, src, dst packet.Addr, sp, dp uint16, c uint64) {
		f := &pipeline.Frame{
			Frame: capture.Frame{Number: n, Time: epoch + at, OrigLen: 100}, Conn: &trace.Connection{Number: c},
			Packet: &packet.Packet{Src: src, Dst: dst, SrcPort: sp, DstPort: dp, Proto: packet.ProtoTCP},
		}
		r.Saw(n, f.Time)
		r.Frame(f)
	}
	add(1, 0, a, b, 1, 2, 0)
	add(2, 10, b, a, 2, 1, 0)
	add(3, 20, b, a, 7, 8, 1)
	add(4, 50, b, a, 2, 1, 2) // the same hosts, another connection
	add(5, 90, a, b, 1, 2, 2)
	want := []string{
		"10.0.0.9 1 10.0.0.1 2 0 1 100 1 100 2 200 0 10",
		"10.0.0.1 2 10.0.0.9 1 2 1 100 1 100 2 200 50 40",
		"10.0.0.1 7 10.0.0.9 8 1 0 0 1 100 1 100 20 0",
	}
	if d := cmp.Diff(want, rows(t, r.taps[0], "conversations")); d != "" {
		t.Error(d)
	}
}

// TestExpert: findings of a rule are summed up, also those that are not listed.
func TestExpert(t *testing.T) {
	r := gather(t, "expert,warning")
	entries := conformance.Catalogue().Entries
	fs := []conformance.Finding{
		{Rule: entries[0], Severity: conformance.Warning, Frame: 9},
		{Rule: entries[1], Severity: conformance.Error, Frame: 4},
		{Rule: entries[0], Severity: conformance.Warning, Frame: 3},
		{Rule: entries[2], Severity: conformance.Note, Frame: 1},
	}
	r.Connection(nil, fs, nil)
	got := rows(t, r.taps[0], "findings")
	if len(got) != 2 || !strings.HasPrefix(got[0], "error 1 ") || !strings.HasPrefix(got[1], "warning 2 ") || !strings.HasSuffix(got[1], " 3") {
		t.Errorf("%q", got)
	}
}

// TestFrameSet: it holds the latest frames, in bounded memory.
func TestFrameSet(t *testing.T) {
	s := frameSet{most: maxWords}
	const step = 1000
	last := uint64(0)
	for n := uint64(1); n < 5*64*maxWords; n += step {
		s.add(n)
		last = n
	}
	if len(s.bits) > maxWords || s.has(1) || s.has(last-1) || !s.has(last) || !s.has(last-step*1000) {
		t.Errorf("%d words from %d", len(s.bits), s.from)
	}
	s.add(last + 1<<40)
	if !s.has(last+1<<40) || s.has(last) || len(s.bits) > maxWords {
		t.Error("a gap in the numbers")
	}
	s.add(3)
}

// TestHierarchy_Bounded: a frame with thousands of FPDUs is cut off.
func TestHierarchy_Bounded(t *testing.T) {
	r := gather(t, "io,phs")
	tp := r.taps[0].(*hierarchy)
	c := conn(0)
	for range 5000 {
		tp.event(&event{is: aPDU, conn: c, pdu: trace.KindFPDU, hasOp: true, op: rdmap.OpSend, payload: 1})
	}
	frames(r, 0)
	if n := len(tp.report().tables()[0].Rows); n != maxDepth || tp.cut != 1 {
		t.Errorf("%d rows, %d cut", n, tp.cut)
	}
}

// TestOnly: what the filter of the run does not match is not counted anywhere.
func TestOnly(t *testing.T) {
	s, err := Parse([]string{"io,stat,0", "io,stat,0,frame.number > 1"})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Gather(Only{Filter: "frame.number != 3", Within: func(n uint64) bool { return n != 4 }})
	frames(r, 0, 1000, 2000, 3000, 4000)
	want := []uint64{3, 2} // 1, 2, 5 and 2, 5
	for i, rep := range r.Reports() {
		if got := firstRow(&rep.tables()[1])[3]; got != want[i] {
			t.Errorf("%d: %v frames, want %d", i, got, want[i])
		}
	}
}

// TestAllocations: nothing is allocated for a frame or a PDU.
func TestAllocations(t *testing.T) {
	var args []string
	for _, k := range Kinds() {
		if k.Name != "io,stat" {
			args = append(args, k.Name)
		}
	}
	s, err := Parse(append(args, "io,stat,1"))
	if err != nil {
		t.Fatal(err)
	}
	r := s.Gather(Only{})
	c := conn(0)
	u := &trace.PDU{Conn: c, Kind: trace.KindFPDU, Frame: 1, Time: epoch, FPDU: &mpa.FPDU{}}
	f := &pipeline.Frame{
		Frame: capture.Frame{Number: 1, Time: epoch, OrigLen: 100, Link: 1, Data: make([]byte, 100)}, Conn: c,
		Packet: &packet.Packet{Src: packet.Addr4(1, 2, 3, 4), Proto: packet.ProtoTCP, PayloadLen: 20},
	}
	step := func() {
		r.Saw(1, epoch)
		r.PDU(u)
		r.Frame(f)
	}
	step()
	if n := testing.AllocsPerRun(100, step); n > 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func ExampleCSVWriter() {
	r := &Report{Name: "conv,tcp", Tables: []Table{{Key: "conversations", Columns: []Column{{"a", "", Plain}, {"frames", "", Count}}}}}
	r.Tables[0].add("10.0.0.1", uint64(3))
	var b bytes.Buffer
	_ = (&CSVWriter{W: &b}).Write("", []*Report{r})
	fmt.Print(b.String())
	// Output:
	// statistic,table,a,frames
	// "conv,tcp",conversations,10.0.0.1,3
}

func firstRow(t *Table) []any {
	for row := range t.rows() {
		return row
	}
	return nil
}
