package points

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// Options are those of a line. They are written as on the command line, and stand for those of the
// command line.
type Options struct {
	// Merge reads the files side by side; Order is that of files which are read one after the other:
	// OrderTime or OrderGiven.
	Merge bool
	Order string
	// DecodeAs and Layout are as --decode-as and --mpa-layout; nil and "": as the command line has
	// them.
	DecodeAs []string
	Layout   string
}

// The orders of files.
const (
	OrderTime  = "time"
	OrderGiven = "given"
)

// parse reads the words of a line behind the name, and returns the files.
func (o *Options) parse(words []string) (files []string, err error) {
	f := pflag.NewFlagSet("point", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.BoolVar(&o.Merge, "merge", false, "")
	f.StringVar(&o.Order, "join", OrderTime, "")
	f.Lookup("join").NoOptDefVal = OrderTime
	f.StringArrayVarP(&o.DecodeAs, "decode-as", "d", nil, "")
	f.StringVar(&o.Layout, "mpa-layout", "", "")
	switch err := f.Parse(words); {
	case errors.Is(err, pflag.ErrHelp):
		return nil, errors.New("--help is no option of a point")
	case err != nil:
		return nil, fmt.Errorf("%s (a point may have --join, --merge, --decode-as and --mpa-layout)", plain(err.Error()))
	case o.Merge && f.Changed("join"):
		return nil, errors.New("--join reads files one after the other, --merge side by side; give one")
	}
	if o.Order = plain(o.Order); o.Order != OrderTime && o.Order != OrderGiven {
		return nil, fmt.Errorf("--join takes time or given, not %q", o.Order)
	}
	for i, d := range o.DecodeAs {
		o.DecodeAs[i] = plain(d)
	}
	if o.Layout = plain(o.Layout); f.Changed("mpa-layout") && strings.TrimSpace(o.Layout) == "" {
		return nil, errors.New("--mpa-layout takes rfc6581 or draft01")
	}
	return f.Args(), nil
}
