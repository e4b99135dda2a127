package extcap

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Kind is the kind of an option, as Wireshark's dialog shows it.
type Kind string

// Kinds of options.
const (
	Integer Kind = "integer"
	String  Kind = "string"
	Boolean Kind = "boolean"
	Select  Kind = "selector"
	File    Kind = "fileselect"
)

// Option is an option of a capture that the dialog offers.
type Option struct {
	// Name is that of the flag, without dashes.
	Name string
	Kind Kind
	// Display is its label, Tooltip explains it, Placeholder stands in an empty field.
	Display, Tooltip, Placeholder string
	// Default is its value if none was chosen.
	Default string
	// From and To bound an integer, if To is set.
	From, To int
	// Validation is a regular expression that the dialog holds a text against.
	Validation string
	// Values can be chosen from, the first of the default first.
	Values []Value
	// Required says that there is no capture without it. Of a file that is chosen, the dialog
	// wants that it is there.
	Required bool
}

// Value can be chosen.
type Value struct{ Name, Display string }

// WriteConfig writes the options of an interface; reload names the one whose values are asked for, "" for all.
func WriteConfig(w io.Writer, options []Option, reload string) error {
	var b strings.Builder
	for n := range options {
		o := &options[n]
		switch {
		case reload == "":
			o.write(&b, n)
		case reload != o.Name && reload != "--"+o.Name:
			continue
		}
		for _, v := range o.Values {
			sentence(&b, "value", "arg", strconv.Itoa(n), "value", v.Name, "display", v.Display, "default", strconv.FormatBool(v.Name == o.Default))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (o *Option) write(b *strings.Builder, n int) {
	pairs := []string{"number", strconv.Itoa(n), "call", "--" + o.Name, "display", o.Display, "type", string(o.Kind), "tooltip", o.Tooltip}
	if len(o.Values) == 0 {
		pairs = append(pairs, "default", o.Default)
	}
	if o.To != 0 {
		pairs = append(pairs, "range", fmt.Sprintf("%d,%d", o.From, o.To))
	}
	pairs = append(pairs, "placeholder", o.Placeholder, "validation", o.Validation)
	if o.Required {
		pairs = append(pairs, "required", "true")
	}
	if o.Kind == File {
		pairs = append(pairs, "mustexist", "true")
	}
	sentence(b, "arg", pairs...)
}
