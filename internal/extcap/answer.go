package extcap

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// About is what the list of interfaces says of the program.
type About struct{ Version, Help string }

// Interface is one that the program captures from.
type Interface struct {
	// Value is its name for programs, Display that for people.
	Value, Display string
}

// WriteInterfaces lists the interfaces.
func WriteInterfaces(w io.Writer, about About, list []Interface) error {
	var b strings.Builder
	sentence(&b, "extcap", "version", about.Version, "help", about.Help, "display", "iwdissect")
	for _, i := range list {
		sentence(&b, "interface", "value", i.Value, "display", i.Display)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// LinkType is how frames of an interface begin: DLT_* of libpcap, and its names.
type LinkType struct {
	Number        int
	Name, Display string
}

// WriteLinkType says which link type an interface has.
func WriteLinkType(w io.Writer, l LinkType) error {
	var b strings.Builder
	sentence(&b, "dlt", "number", strconv.Itoa(l.Number), "name", l.Name, "display", l.Display)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteVersion says which version the program has.
func WriteVersion(w io.Writer, about About) error {
	var b strings.Builder
	sentence(&b, "extcap", "version", about.Version, "help", about.Help, "display", "iwdissect")
	_, err := io.WriteString(w, b.String())
	return err
}

// sentence writes a line of an answer, of names and values; what is empty is left out.
func sentence(b *strings.Builder, what string, pairs ...string) {
	b.WriteString(what)
	b.WriteByte(' ')
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(b, "{%s=%s}", pairs[i], enclosed(pairs[i], pairs[i+1]))
		}
	}
	b.WriteByte('\n')
}

// enclosed is a value that cannot leave its braces, nor its line.
func enclosed(name, value string) string {
	if name == "validation" {
		return value // a pattern of ours
	}
	return strings.NewReplacer("{", "(", "}", ")").Replace(visible.Text(value))
}

const hexDigits = "0123456789abcdef"

// Encode makes a name of what an interface is called, which may be any octets but blanks: Wireshark
// makes file names and names of settings of it. [Decode] is its inverse.
func Encode(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.', c == '@':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

// Decode gives back what [Encode] was given.
func Decode(name string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		if i+2 >= len(name) {
			return "", fmt.Errorf("%q is no name of an interface", name)
		}
		c, err := strconv.ParseUint(name[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("%q is no name of an interface", name)
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), nil
}
