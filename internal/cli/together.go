package cli

import (
	"os"
	"slices"
	"sync"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/render"
)

// together are the flags that make one capture of several files.
type together struct {
	join  joinOrder
	merge bool

	mu   sync.Mutex
	said []string // remarks on the files; a second pass would say them again
}

// joinOrder is --join: the order of the files. Empty: they are captures of their own.
type joinOrder string

const (
	byTime  joinOrder = "time"
	asGiven joinOrder = "given"
)

// joinFlag is the name of the flag, which takes one of joinWords or nothing.
const joinFlag = "join"

var joinWords = []string{string(byTime), string(asGiven)}

// Type, String and Set implement [pflag.Value].
func (o *joinOrder) Type() string   { return "ORDER" }
func (o *joinOrder) String() string { return string(*o) }

// Set reads an order.
func (o *joinOrder) Set(s string) error {
	if *o = joinOrder(s); *o != byTime && *o != asGiven {
		return usagef("--join takes time or given, not %q", s)
	}
	return nil
}

func (t *together) flags(f *pflag.FlagSet) {
	f.Var(&t.join, joinFlag, "read the files one after the other as one capture, as those of a ring: `ORDER` is time, of their first frames, or given, as in --join=given")
	f.Lookup(joinFlag).NoOptDefVal = string(byTime)
	f.BoolVar(&t.merge, "merge", false, "read the files side by side as one capture, in the order of time: two taps, directions or queues of one point")
}

// single reports whether all files are one capture.
func (t *together) single() bool { return t.join != "" || t.merge }

// order puts the files in order.
func (t *together) order(files []string) ([]string, error) {
	switch {
	case t.join != "" && t.merge:
		return nil, usagef("--join reads files one after the other, --merge side by side; give one")
	case len(files) < 2 || t.join != byTime && !t.merge:
		return files, nil
	}
	for _, name := range files {
		once := "standard input"
		if name != "-" {
			if info, err := os.Stat(name); err != nil || info.Mode().IsRegular() {
				continue
			}
			once = name
		}
		if t.merge {
			return nil, usagef("--merge has to look at each file twice, and %s can be read only once", once)
		}
		return nil, usagef("--join looks at each file twice, and %s can be read only once; --join=given keeps the order", once)
	}
	return capture.ByTime(files), nil
}

// several is a capture of several files.
type several interface {
	capture.Source
	Progress() (done, total int64)
	Remarks() []string
}

// openAll opens files that are one capture.
func (t *together) openAll(files []string, s *IOStreams) *source {
	var c several
	format := "joined"
	if t.merge {
		c, format = capture.Merge(files), "merged"
	} else {
		c = capture.Join(files, s.In)
	}
	closed := func() { t.remark(c.Remarks(), s) }
	return &source{Source: c, name: c.Name(), format: func() string { return format }, prog: c.Progress, closed: closed}
}

// origins tells where the frames of a source come from; nil: from one file.
func origins(src capture.Source) func(frame uint64) render.Origin {
	all, ok := src.(interface {
		Locate(number uint64) (path string, own uint64, ok bool)
	})
	if !ok {
		return nil
	}
	return func(frame uint64) render.Origin {
		path, own, _ := all.Locate(frame)
		return render.Origin{File: path, Frame: own}
	}
}

// locate says from which file the frames of findings come.
func locate(src *source, findings []render.Finding) {
	if src == nil { // it could not be opened
		return
	}
	if of := origins(src.Source); of != nil {
		for i := range findings {
			findings[i].In = of(findings[i].Frame)
		}
	}
}

// remark says what is odd about the files, once.
func (t *together) remark(remarks []string, s *IOStreams) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range remarks {
		if !slices.Contains(t.said, r) {
			t.said = append(t.said, r)
			s.say("%s", r)
		}
	}
}
