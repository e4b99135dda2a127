package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/iwdissect/iwdissect/internal/bpf"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
)

// noFilter refuses a filter behind the files, where tshark and tcpdump take one: here more
// files stand there, and the rest of them would be shown without a filter.
func (in *input) noFilter(args []string) error {
	missing := args
	for i, name := range args {
		if _, err := os.Stat(name); name == "-" || capture.IsURL(name) || !errors.Is(err, fs.ErrNotExist) {
			missing = args[i+1:]
		}
	}
	if len(missing) == 0 {
		return nil
	}
	text := strings.Join(missing, " ")
	if _, err := display.Compile(text, fields.Find, fields.Names); err == nil {
		return usagef("there is no file %q, and a filter goes with -Y: -Y '%s'", text, text)
	}
	_, err := bpf.Parse(text)
	if err == nil || len(in.read) > 0 && strings.ContainsAny(text, "=<>&|! ") {
		return usagef("there is no file %q, and a filter goes with -Y, in the language of Wireshark, such as -Y 'tcp.port == 5445'", text)
	}
	return nil
}
