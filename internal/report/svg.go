package report

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/render"
)

// drawing is an SVG that is drawn. Its colours are classes of the style sheet, so that they are
// right in the dark and on paper.
type drawing struct {
	strings.Builder
	width, height int
}

// out is the SVG; label says what it shows to those who do not see it.
func (d *drawing) out(class, label string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="%s" viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`,
		class, d.width, d.height, html.EscapeString(label), d.String()))
}

// text writes text; anchor is start, middle or end.
func (d *drawing) text(x, y float64, class, anchor, text string) {
	fmt.Fprintf(d, `<text x="%s" y="%s" class="%s" text-anchor="%s">%s</text>`, num(x), num(y), class, anchor, html.EscapeString(text))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(d, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`, num(x1), num(y1), num(x2), num(y2), class)
}

// rect draws a rectangle with a title, which a pointer shows.
func (d *drawing) rect(x, y, w, h float64, class, title string) {
	fmt.Fprintf(d, `<rect x="%s" y="%s" width="%s" height="%s" class="%s">`, num(x), num(y), num(w), num(h), class)
	if title != "" {
		fmt.Fprintf(d, `<title>%s</title>`, html.EscapeString(title))
	}
	d.WriteString(`</rect>`)
}

// num spells a coordinate.
func num(v float64) string { return strconv.FormatFloat(v, 'f', -1, 32) }

// Where charts are drawn: the size of all, and of the part with the data.
const (
	chartWidth, chartHeight = 460, 190
	plotLeft, plotRight     = 10.0, 450.0
	plotTop, plotBottom     = 24.0, 166.0
)

func newChart() *drawing { return &drawing{width: chartWidth, height: chartHeight} }

// axis draws the bottom of a chart with what stands at its ends.
func (d *drawing) axis(from, to string) {
	d.line(plotLeft, plotBottom, plotRight, plotBottom, "axis")
	d.text(plotLeft, plotBottom+16, "tick", "start", from)
	d.text(plotRight, plotBottom+16, "tick", "end", to)
}

// slotWidth is how wide a slot of time is drawn.
func slotWidth(interval, lasted int64) float64 {
	return (plotRight - plotLeft) * min(float64(interval)/float64(max(lasted, 1)), 1)
}

// bar draws a part of a slot, at least so wide; the last slot may end behind the plot.
func (d *drawing) bar(slot int, step, part, least, y, h float64, class, title string) {
	x := min(plotLeft+step*float64(slot), plotRight-least)
	d.rect(x, y, min(max(step*part, least), plotRight-x), h, class, title)
}

// drawRates draws octets over time: those of the initiator upwards, those of the responder
// downwards, and marks where packets were sent again.
func drawRates(r Rates) template.HTML {
	d := newChart()
	most := uint64(1)
	for dir := range r.Octets {
		for _, v := range r.Octets[dir] {
			most = max(most, v)
		}
	}
	middle := (plotTop + plotBottom) / 2
	room := (plotBottom - plotTop) / 2
	step := slotWidth(r.Interval, r.Lasted)
	for dir, slots := range r.Octets {
		for i, v := range slots {
			if v == 0 {
				continue
			}
			h := max(room*float64(v)/float64(most), .8)
			y := middle - h
			if dir == 1 {
				y = middle
			}
			d.bar(i, step, .9, .6, y, h, "d"+strconv.Itoa(dir),
				fmt.Sprintf("%s at %s: %s", sender(dir), diagnose.Duration(int64(i)*r.Interval), rate(8e9*float64(v)/float64(r.Interval))))
		}
	}
	again := uint64(0)
	for dir, slots := range r.Again {
		for i, v := range slots {
			if v == 0 {
				continue
			}
			again += v
			y := plotTop - 6
			if dir == 1 {
				y = plotBottom - 6
			}
			d.bar(i, step, .9, 2, y, 6, "bad",
				fmt.Sprintf("%s sent %s again at %s", sender(dir), diagnose.Counted(v, "packet", "packets"), diagnose.Duration(int64(i)*r.Interval)))
		}
	}
	d.line(plotLeft, middle, plotRight, middle, "axis")
	d.text(plotLeft, plotTop-10, "tick", "start", "initiator ↑  responder ↓")
	d.text(plotRight, plotTop-10, "tick", "end", "most "+rate(8e9*float64(most)/float64(r.Interval))+" in "+diagnose.Duration(r.Interval))
	d.axis("0", diagnose.Duration(r.Lasted))
	label := "Octets of PDUs over time"
	if again > 0 {
		label += ", with " + diagnose.Counted(again, "retransmission", "retransmissions")
	}
	return d.out("chart", label)
}

func sender(dir int) string {
	return [...]string{"initiator", "responder"}[dir]
}

// drawDepth draws how many requests waited over time, and the limit.
func drawDepth(x Depth) template.HTML {
	d := newChart()
	top := float64(max(x.Top, 1))
	if x.Known && x.Limit > 0 && float64(x.Limit) < 4*top {
		top = max(top, float64(x.Limit))
	}
	step := slotWidth(x.Interval, x.Lasted)
	height := func(n float64) float64 { return plotBottom - (plotBottom-plotTop)*n/top }
	dir := 0
	if x.Dir == "r2i" {
		dir = 1
	}
	for i, n := range x.Most {
		if n <= 0 {
			continue
		}
		class := "d" + strconv.Itoa(dir)
		if x.Known && int(n) > x.Limit {
			class = "bad"
		}
		y := height(float64(n))
		d.bar(i, step, 1, 0, y, plotBottom-y, class,
			fmt.Sprintf("%d at %s", n, diagnose.Duration(int64(i)*x.Interval)))
	}
	says := fmt.Sprintf("%s: at most %d at once", x.Dir, x.Top)
	switch {
	case !x.Known:
		says += ", limit not known"
	case float64(x.Limit) <= top:
		y := height(float64(x.Limit))
		d.line(plotLeft, y, plotRight, y, "limit")
		says += fmt.Sprintf(", limit %d (dashed)", x.Limit)
	default:
		says += fmt.Sprintf(", limit %d", x.Limit)
	}
	d.text(plotLeft, plotTop-10, "tick", "start", says)
	d.axis("0", diagnose.Duration(x.Lasted))
	return d.out("chart", "Requests that wait over time, "+says)
}

// leastBins is how many bins a chart has, so that a few are not as wide as all of it.
const leastBins = 9

// widened has empty bins around those that there are, alternately on both sides, if these are
// few. They are as much wider or narrower as the next ones.
func widened(bins []Bin) []Bin {
	for right := true; len(bins) > 0 && len(bins) < leastBins; right = !right {
		first, last := bins[0], bins[len(bins)-1]
		if grown := last.To * last.To / max(last.From, 1); !right && first.From > 1 {
			bins = append([]Bin{{From: first.From * first.From / first.To, To: first.From}}, bins...)
		} else {
			bins = append(bins, Bin{From: last.To, To: max(grown, last.To+1)})
		}
	}
	return bins
}

// drawBins draws bars.
func drawBins(d *drawing, bins []Bin, class string, name func(Bin) string) {
	most := uint64(1)
	for _, b := range bins {
		most = max(most, b.Count)
	}
	step := (plotRight - plotLeft) / float64(max(len(bins), 1))
	for i, b := range bins {
		if b.Count == 0 {
			continue
		}
		h := max((plotBottom-plotTop)*float64(b.Count)/float64(most), 1)
		d.rect(plotLeft+step*float64(i), plotBottom-h, max(step*.9, .6), h, class, name(b)+": "+diagnose.Number(b.Count))
	}
}

// drawLatency draws a histogram with its percentiles.
func drawLatency(l Latency) template.HTML {
	d := newChart()
	l.Bins = widened(l.Bins)
	drawBins(d, l.Bins, "d0", func(b Bin) string { return ns(b.From) + " to " + ns(b.To) })
	if len(l.Bins) == 0 {
		return d.out("chart", l.Name)
	}
	for i, q := range []uint64{l.Half, l.P99} {
		for k, b := range l.Bins {
			if b.From <= q && q < b.To {
				x := plotLeft + (plotRight-plotLeft)*(float64(k)+float64(q-b.From)/float64(b.To-b.From))/float64(len(l.Bins))
				d.line(x, plotTop, x, plotBottom, "mark")
				anchor, dx := "start", 3.0
				if x > (plotLeft+plotRight)/2 {
					anchor, dx = "end", -3
				}
				d.text(x+dx, plotTop+10+12*float64(i), "tick", anchor, [...]string{"median", "p99"}[i])
			}
		}
	}
	d.text(plotLeft, plotTop-10, "tick", "start", "each bar is a quarter of a doubling")
	d.axis(ns(l.Bins[0].From), ns(l.Bins[len(l.Bins)-1].To))
	return d.out("chart", fmt.Sprintf("Latency of %s: median %s, 99th percentile %s", l.Name, ns(l.Half), ns(l.P99)))
}

// ns spells nanoseconds.
func ns(v uint64) string { return diagnose.Duration(int64(v)) } //nolint:gosec // was a duration

// drawSizes draws how large messages are.
func drawSizes(s Sizes) template.HTML {
	d := newChart()
	class := "d0"
	if s.Dir == "r2i" {
		class = "d1"
	}
	s.Bins = widened(s.Bins)
	drawBins(d, s.Bins, class, func(b Bin) string {
		if b.To <= 1 {
			return "empty"
		}
		return render.Size(b.From) + " to " + render.Size(b.To-1)
	})
	d.text(plotLeft, plotTop-10, "tick", "start", s.Dir+": messages by size, each bar is a doubling")
	if n := len(s.Bins); n > 0 {
		d.axis(render.Size(s.Bins[0].From), render.Size(s.Bins[n-1].To-1))
	}
	return d.out("chart", "Sizes of messages "+s.Dir)
}
