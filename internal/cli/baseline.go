package cli

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/render"
)

// baselineSchema names the shape of the file, maxBaseline is its size in octets.
const (
	baselineSchema = "iwdissect-baseline/1"
	maxBaseline    = 64 << 20
)

// knownFinding is an entry of a baseline: the capture, relative to the folder of the
// baseline, and the fingerprint. Message is for people.
type knownFinding struct {
	File    string `json:"file"`
	Finding string `json:"finding"`
	Further int    `json:"further,omitempty"`
	Message string `json:"message,omitempty"`

	found bool
}

// rule is the id that the fingerprint starts with.
func (k *knownFinding) rule() string {
	id, _, _ := strings.Cut(k.Finding, " ")
	return id
}

// findingKey is what makes two entries the same.
type findingKey struct{ file, finding string }

// baseline holds the findings that are known, and do not fail.
type baseline struct {
	file, folder string
	entries      []*knownFinding
	byKey        map[findingKey]*knownFinding
	// read are the captures that were read to their end.
	read map[string]bool
}

func newBaseline(file string) (*baseline, error) {
	folder, err := folderOf(file)
	return &baseline{file: file, folder: folder, byKey: map[findingKey]*knownFinding{}, read: map[string]bool{}}, err
}

// is reports whether the baseline is the file of that name.
func (b *baseline) is(file string) bool {
	folder, err := folderOf(file)
	return err == nil && folder == b.folder && filepath.Base(file) == filepath.Base(b.file)
}

// readBaseline reads a baseline. Errors name the line.
func (s *IOStreams) readBaseline(file string) (*baseline, error) {
	b, err := newBaseline(file)
	if err != nil {
		return nil, err
	}
	src, err := s.readSmall(file, maxBaseline)
	if err != nil {
		return nil, err
	}
	if line, err := b.decode(src); err != nil {
		return nil, usagef("%s:%d: %w", file, line, err)
	}
	return b, nil
}

// decode reads the entries. Of an error it returns the line too.
func (b *baseline) decode(src []byte) (line int, err error) {
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	schema, at := "", 0
	step := func(read func() error) {
		if err == nil {
			at = int(dec.InputOffset())
			at += len(src[at:]) - len(bytes.TrimLeft(src[at:], " \t\r\n,:")) // where the next value starts
			err = read()
		}
	}
	delim := func(want json.Delim) {
		step(func() error {
			if t, err := dec.Token(); err != nil || t != want {
				return cmp.Or(err, fmt.Errorf("expected %v", want))
			}
			return nil
		})
	}
	delim('{')
	for err == nil && dec.More() {
		var key any
		step(func() (err error) { key, err = dec.Token(); return err })
		switch key {
		case "schema":
			step(func() error { return dec.Decode(&schema) })
		case "findings":
			delim('[')
			for err == nil && dec.More() {
				step(func() error { return b.entry(dec) })
			}
			delim(']')
		default:
			err = cmp.Or(err, fmt.Errorf("unknown key %q, there are findings, schema", key))
		}
	}
	delim('}')
	if err == nil && schema != baselineSchema {
		at, err = 0, fmt.Errorf("not a baseline: its schema is %q and not %q", schema, baselineSchema)
	}
	step(func() error {
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return errors.New("something follows behind the end")
		}
		return nil
	})
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = int(syntax.Offset)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		at, err = len(src), errors.New("the file ends too early")
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		err = fmt.Errorf("schema is %s, not %s", jsonKind(kind.Type.Kind()), jsonValue(kind.Value))
	}
	if unknown, ok := strings.CutPrefix(fmt.Sprint(err), "json: "); ok {
		err = errors.New(unknown)
	}
	return 1 + bytes.Count(src[:min(at, len(src))], []byte("\n")), err
}

func (b *baseline) entry(dec *json.Decoder) error {
	k := new(knownFinding)
	var kind *json.UnmarshalTypeError
	switch err := dec.Decode(k); {
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("an entry is an object with a file and a finding, not %s", jsonValue(kind.Value))
	case errors.As(err, &kind):
		return fmt.Errorf("%s of an entry is %s, not %s", kind.Field, jsonKind(kind.Type.Kind()), jsonValue(kind.Value))
	case err != nil:
		return err
	case k.File == "" || k.Finding == "":
		return errors.New("an entry has a file and a finding")
	case k.Further < 0:
		return errors.New("further is negative")
	}
	k.File = b.canonical(k.File)
	b.add(k)
	return nil
}

// canonical is what a baseline calls a capture whose name somebody wrote by hand, such as ./a.pcap or one that
// begins at the root: else it would match nothing, and not be listed as no longer found.
func (b *baseline) canonical(name string) string {
	if strings.HasPrefix(name, pointPrefix) {
		return name
	}
	parts := strings.Split(name, joint)
	for i, p := range parts {
		if full := filepath.FromSlash(p); !filepath.IsAbs(full) && !notFile(p) {
			parts[i] = filepath.Join(b.folder, full)
		}
	}
	return strings.Join(within(b.folder, parts), joint)
}

// jsonKind is what a member has to be, jsonValue what stands there, as [json.UnmarshalTypeError] calls both.
func jsonKind(k reflect.Kind) string {
	if k == reflect.String {
		return "a string"
	}
	return "a whole number"
}

func jsonValue(says string) string {
	switch kind, number, _ := strings.Cut(says, " "); {
	case number != "":
		return number
	case kind == "bool":
		return "true or false"
	case strings.HasPrefix(kind, "a"), strings.HasPrefix(kind, "o"): // array, object
		return "an " + kind
	}
	return "a " + says
}

func (b *baseline) add(k *knownFinding) {
	key := findingKey{k.File, k.Finding}
	if b.byKey[key] == nil {
		b.byKey[key] = k
		b.entries = append(b.entries, k)
	}
}

// pointPrefix begins what a baseline calls the capture of a point.
const pointPrefix = "point:"

// namesOf are what the baseline may call a capture. The first is what it is called when it is written:
// from the folder as both are named, or where links are followed, whichever is shorter.
func (b *baseline) namesOf(names []string) []string {
	if len(names) == 1 && strings.HasPrefix(names[0], pointPrefix) {
		return names
	}
	named, followed := within(b.folder, names), within(resolved(b.folder), names)
	for i, n := range names {
		if full, err := filepath.Abs(n); err == nil && !notFile(n) {
			followed[i] = within(resolved(b.folder), []string{filepath.Join(resolved(filepath.Dir(full)), filepath.Base(full))})[0]
		}
	}
	all := []string{writable(strings.Join(named, joint)), writable(strings.Join(followed, joint))}
	if strings.Count(all[1], "/") < strings.Count(all[0], "/") {
		slices.Reverse(all)
	}
	return slices.Compact(all)
}

// resolved follows the links of a folder, as far as there is one.
func resolved(folder string) string {
	if to, err := filepath.EvalSymlinks(folder); err == nil {
		return to
	}
	return folder
}

// writable escapes octets that are not UTF-8, which JSON has not: 0, which is in no name, and two
// digits. original takes that back.
func writable(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	var out strings.Builder
	for i, r := range name {
		if _, n := utf8.DecodeRuneInString(name[i:]); r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&out, "\x00%02x", name[i])
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

func original(name string) string {
	parts := strings.Split(name, "\x00")
	for i, p := range parts[1:] {
		if len(p) < 2 {
			return name
		}
		octet, err := hex.DecodeString(p[:2])
		if err != nil {
			return name
		}
		parts[i+1] = string(octet) + p[2:]
	}
	return strings.Join(parts, "")
}

// known is the entry of a finding in a capture, nil if there is none.
func (b *baseline) known(files []string, f *render.Finding) *knownFinding {
	for _, file := range files {
		if k := b.byKey[findingKey{file, f.Fingerprint()}]; k != nil {
			return k
		}
	}
	return nil
}

// mark marks the findings that are known. A finding that counts more occurrences than
// the baseline has is not known.
func (b *baseline) mark(names []string, fs []render.Finding) {
	files := b.namesOf(names)
	for i := range fs {
		f := &fs[i]
		k := b.known(files, f)
		f.Known = k != nil && f.Further() <= k.Further
	}
}

// saw notes what a capture had.
func (b *baseline) saw(names []string, c *render.Checked) {
	files := b.namesOf(names)
	if c.Failure == "" {
		for _, file := range files {
			b.read[file] = true
		}
	}
	for i := range c.Findings {
		if k := b.known(files, &c.Findings[i]); k != nil {
			k.found = true
		}
	}
}

// gone returns the entries that are no longer found although the capture was read and
// the rule was judged, and those whose capture does not exist any more.
func (b *baseline) gone(asked func(*conformance.Entry) bool) (gone []*knownFinding) {
	for _, k := range b.entries {
		e, exists := conformance.Catalogue().Find(k.rule())
		switch {
		case k.found || exists && !asked(e) || k.File == "-" || capture.IsURL(k.File) && !b.read[k.File]:
		case b.read[k.File]:
			gone = append(gone, k)
		default:
			if _, err := os.Stat(filepath.Join(b.folder, filepath.FromSlash(original(k.File)))); errors.Is(err, os.ErrNotExist) && !strings.Contains(k.File, joint) && !strings.HasPrefix(k.File, pointPrefix) {
				gone = append(gone, k)
			}
		}
	}
	return gone
}

// maxListed is how many entries that are no longer found are listed.
const maxListed = 20

// goneError lists entries that are no longer found.
func (b *baseline) goneError(gone []*knownFinding) error {
	list := listError{fmt.Sprintf("%s: %d of %d findings no longer found; --write-baseline writes it anew:", b.file, len(gone), len(b.entries))}
	for i, k := range gone {
		if i == maxListed {
			list = append(list, fmt.Sprintf("  and %d more", len(gone)-i))
			break
		}
		list = append(list, fmt.Sprintf("  %q %q", k.File, k.Finding))
	}
	return list
}

// listError is an error of several lines.
type listError []string

func (e listError) Error() string { return strings.Join(e, "\n") }

// Lines are the lines, none of which has an end of a line in it.
func (e listError) Lines() []string { return slices.Clone(e) }

// take enters the findings of a capture that are not suppressed.
func (b *baseline) take(names []string, fs []render.Finding) {
	file := b.namesOf(names)[0]
	for i := range fs {
		if f := &fs[i]; !f.Suppressed {
			b.add(&knownFinding{File: file, Finding: f.Fingerprint(), Further: f.Further(), Message: f.Message})
		}
	}
}

// write writes the baseline, an entry a line, by file. It is none of the inputs.
func (b *baseline) write(inputs []string) error {
	slices.SortStableFunc(b.entries, func(x, y *knownFinding) int { return strings.Compare(x.File, y.File) })
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n\"schema\": %q,\n\"findings\": [", baselineSchema)
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // of the > between endpoints
	for i, k := range b.entries {
		if i > 0 {
			out.Truncate(out.Len() - 1) // the end of the line before
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		if err := enc.Encode(k); err != nil {
			return err
		}
	}
	out.WriteString("]\n}\n")
	return outfile.Write(b.file, out.Bytes(), inputs)
}

// folderOf is the folder that a file lies in, by its full name.
func folderOf(file string) (string, error) {
	full, err := filepath.Abs(file)
	return filepath.Dir(full), err
}

// within names captures as they are called from a folder, with slashes: the same
// wherever the program was started.
func within(folder string, names []string) []string {
	out := slices.Clone(names)
	for i, n := range out {
		full, err := filepath.Abs(n)
		if err != nil || notFile(n) {
			continue
		}
		if rel, err := filepath.Rel(folder, full); err == nil {
			out[i] = filepath.ToSlash(rel)
		}
	}
	return out
}
