package extcap

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// Ask is what a call asks for.
type Ask int

// What Wireshark asks for.
const (
	AskInterfaces Ask = iota + 1
	AskLinkTypes
	AskConfig
	AskFilter
	AskCapture
	AskVersion
	AskCleanup
)

// Call is one call of the program by Wireshark.
type Call struct {
	Ask Ask
	// Interface is a value that the list of interfaces has.
	Interface string
	// Filter is the capture filter, to be verified or to capture with.
	Filter string
	// Pipe is the named pipe that packets are written to.
	Pipe string
	// Reload names the option whose values are asked for again, "" for all options.
	Reload string
	// given are the options of the dialog that were given.
	given map[string]string
}

// Value is what the user chose for an option, or its default.
func (c *Call) Value(o *Option) string {
	if v, ok := c.given[o.Name]; ok {
		return v
	}
	return o.Default
}

const prefix = "--extcap-"

// Asked reports whether arguments are such a call: those begin with a flag of theirs.
func Asked(args []string) bool {
	return len(args) > 0 && (strings.HasPrefix(args[0], prefix) || args[0] == "--capture" ||
		(args[0] == "--fifo" || strings.HasPrefix(args[0], "--fifo=")))
}

// Parse reads a call, which may have these options.
func Parse(args []string, options []Option) (*Call, error) {
	c := &Call{given: map[string]string{}}
	f := pflag.NewFlagSet("extcap", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	interfaces := f.Bool("extcap-interfaces", false, "")
	links := f.Bool("extcap-dlts", false, "")
	config := f.Bool("extcap-config", false, "")
	capture := f.Bool("capture", false, "")
	cleanup := f.Bool("extcap-cleanup-postkill", false, "")
	version := f.String("extcap-version", "", "")
	f.Lookup("extcap-version").NoOptDefVal = "unknown"
	f.StringVar(&c.Interface, "extcap-interface", "", "")
	f.StringVar(&c.Filter, "extcap-capture-filter", "", "")
	f.StringVar(&c.Pipe, "fifo", "", "")
	f.StringVar(&c.Reload, "extcap-reload-option", "", "")
	// What there is nothing to do for: values that were chosen before, the pipes of a toolbar, and
	// where and how much is logged.
	for _, name := range []string{
		"extcap-config-option-name", "extcap-config-option-value", "extcap-control-in", "extcap-control-out", "log-level", "log-file",
	} {
		f.String(name, "", "")
	}
	for i := range options {
		f.String(options[i].Name, options[i].Default, "")
	}
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is not expected behind the options of extcap", f.Arg(0))
	}
	for i := range options {
		if name := options[i].Name; f.Changed(name) {
			c.given[name], _ = f.GetString(name) // it is a string
		}
	}
	switch {
	case *interfaces:
		c.Ask = AskInterfaces
	case *cleanup:
		c.Ask = AskCleanup
	case *links:
		c.Ask = AskLinkTypes
	case *config:
		c.Ask = AskConfig
	case *capture:
		c.Ask = AskCapture
	case f.Changed("extcap-capture-filter"):
		c.Ask = AskFilter
	case *version != "":
		c.Ask = AskVersion
	default:
		return nil, errors.New("--extcap-interfaces, --extcap-dlts, --extcap-config or --capture is missing: these are the calls of Wireshark")
	}
	return c, c.check()
}

// check refuses a call that lacks something.
func (c *Call) check() error {
	switch {
	case c.Interface == "" && (c.Ask == AskLinkTypes || c.Ask == AskConfig || c.Ask == AskFilter || c.Ask == AskCapture):
		return errors.New("--extcap-interface says which interface is meant; --extcap-interfaces lists them")
	case c.Ask == AskCapture && c.Pipe == "":
		return errors.New("--fifo says where to write the packets")
	}
	return nil
}
