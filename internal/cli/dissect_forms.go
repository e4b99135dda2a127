package cli

import (
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/details"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// formFlags are the flags of the forms that tshark writes. In them the unit is the frame,
// with all PDUs that it completed.
type formFlags struct {
	// form is -T: a form of tshark, or a word for --format.
	form string
	// asked are -e, tableOptions -E, protocols -O, preferences -o.
	asked, tableOptions, preferences []string
	protocols                        string
	// layers are -j, wholeLayers -J.
	layers, wholeLayers string
	distinct            bool
	// dump counts -X; lineBuffered is -l, version -v.
	dump         int
	lineBuffered bool
	version      bool

	list     []*fields.Field
	table    details.Layout
	absolute bool
}

// aboutForms explains the flags, in the help of dissect.
const aboutForms = `

-T FORM writes frames as tshark does, for scripts that read its output: fields (the
columns that -e names), json, ek, pdml, psml or tabs. Names, values and nesting are
those of tshark 4.0; fields that Wireshark has no name for are in a layer of their own, iwd.
-O PROTOCOLS shows the details of these protocols as text, -x adds the octets of the
frame. With -T json, ek or pdml, -j PROTOCOLS shows the first level of these layers and
only the names of all others; -J PROTOCOLS shows all levels of these. -T text, ndjson and
csv mean the same as with --format.`

// forms are the words that -T takes, formWords those that mean --format.
var (
	forms     = []string{"fields", "json", "ek", "pdml", "psml", "tabs"}
	formWords = []string{"text", "ndjson", csvFormat}
)

func (o *formFlags) flags(f *pflag.FlagSet) {
	o.shapeFlags(f)
	f.CountVarP(&o.dump, "dump", "X", "show the octets of each frame with a PDU as tcpdump does, from the IP header on; -XX from the link header on")
	f.BoolVarP(&o.version, "version", "v", false, "print the version and exit")
}

// shapeFlags adds those that a live capture has as well.
func (o *formFlags) shapeFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.form, "form", "T", "", "write frames as tshark does, in `FORM`: fields, json, ek, pdml, psml or tabs; text, ndjson and csv are words for --format")
	f.StringArrayVarP(&o.asked, "field", "e", nil, "with -T fields, json or ek, show the field `NAME`; as often as there are columns")
	f.StringArrayVarP(&o.tableOptions, "field-option", "E", nil, "with -T fields, `OPTION` is header=y|n, separator=/t|/s|C, occurrence=f|l|a, aggregator=,|/s|C, quote=d|s|n, bom=y|n or escape=y|n")
	f.StringVarP(&o.protocols, "details", "O", "", "show the packet details of `PROTOCOLS`, such as tcp,iwarp_ddp_rdmap, as tshark does; all shows all")
	o.layerFlags(f)
	f.BoolVar(&o.distinct, "no-duplicate-keys", false, "with -T json, make an array of members of the same name")
	f.BoolVarP(&o.lineBuffered, "line-buffered", "l", false, "write each line at once, for the next program in a pipe")
	f.StringArrayVarP(&o.preferences, "preference", "o", nil, "`NAME:VALUE` is a preference of tshark, as far as it means something here, such as tcp.relative_sequence_numbers:FALSE")
}

// completeForms registers what completes the flags.
func (s *IOStreams) completeForms(cmd *cobra.Command) {
	for name, f := range map[string]completion{
		"form":         words(append(slices.Clone(forms), formWords...)...),
		"field":        completeFields,
		"field-option": words("header=y", "separator=,", "separator=/t", "separator=/s", "occurrence=f", "occurrence=l", "occurrence=a", "aggregator=,", "quote=d", "quote=s", "bom=y", "escape=n"),
		"details":      lists(append(protocolNames(), "all")),
		"all-below":    lists(protocolNames()),
		"preference":   words(preferenceWords()...),
	} {
		s.offer(cmd, name, f)
	}
}

// protocolNames are those whose details can be shown.
func protocolNames() []string {
	names := []string{"iwarp_mpa", "iwarp_ddp_rdmap", "iwd", "data"}
	for _, l := range fields.AllLayers() {
		if l.Name != "" && !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	slices.Sort(names)
	return names
}

// shaped reports whether one of tshark's forms was asked for.
func (o *formFlags) shaped() bool { return o.form != "" || o.protocols != "" }

// check makes sense of the flags. format is --format, and whether it was given.
func (o *formFlags) check(format *string, given bool) error {
	if err := o.word(format, given); err != nil {
		return err
	}
	if o.form == "" && len(o.asked) > 0 {
		o.form = "fields"
	}
	switch {
	case o.form != "" && !slices.Contains(forms, o.form):
		return usagef("-T takes %s, text, ndjson or csv, not %q", strings.Join(forms, ", "), o.form)
	case o.shaped() && given:
		return usagef("-T, -e and -O go without --format")
	case o.protocols != "" && o.form != "":
		return usagef("-O shows details as text; -T %s goes without it", o.form)
	case o.form == "fields" && len(o.asked) == 0:
		return usagef("-T fields needs at least one field: -e NAME; 'iwdissect fields' lists them")
	case len(o.asked) > 0 && !slices.Contains([]string{"fields", "json", "ek"}, o.form):
		return usagef("-e goes with -T fields, json or ek")
	case len(o.tableOptions) > 0 && o.form != "fields":
		return usagef("-E goes with -T fields")
	case o.distinct && o.form != "json":
		return usagef("--no-duplicate-keys goes with -T json")
	case o.dump > 2:
		return usagef("-X can be given once or twice")
	case o.dump > 0 && (o.shaped() || *format != "text"):
		return usagef("-X goes with the lines of --format text")
	}
	if err := o.checkFields(); err != nil {
		return err
	}
	if err := o.checkProtocols(); err != nil {
		return err
	}
	if err := o.checkLayers(); err != nil {
		return err
	}
	var err error
	o.absolute, err = preferences(o.preferences)
	return err
}

// word makes --format of a word of -T that means it.
func (o *formFlags) word(format *string, given bool) error {
	if !slices.Contains(formWords, o.form) {
		return nil
	}
	if given && *format != o.form {
		return usagef("-T %s and --format %s are two answers to one question", o.form, *format)
	}
	*format, o.form = o.form, ""
	return nil
}

// checkFields finds the fields of -e, and reads -E.
func (o *formFlags) checkFields() error {
	o.list = nil
	for _, name := range o.asked {
		f := fields.Find(name)
		if f == nil && strings.Contains(name, ",") {
			return usagef("-e %s: it takes one field; give -e as often as there are columns", name)
		}
		if f == nil {
			return usagef("-e %s: there is no such field%s ('iwdissect fields TEXT' finds one)", name, meant(name, fields.Names()))
		}
		o.list = append(o.list, f)
	}
	o.table = details.DefaultLayout()
	for _, option := range o.tableOptions {
		if err := o.table.Set(option); err != nil {
			return usagef("-E: %w", err)
		}
	}
	return nil
}

// checkProtocols refuses protocols of -O that do not exist.
func (o *formFlags) checkProtocols() error {
	if o.protocols == "" || o.protocols == "all" {
		return nil
	}
	return knownProtocols("-O", strings.Split(o.protocols, ","))
}

// knownProtocols refuses words that are no protocols.
func knownProtocols(flag string, words []string) error {
	names := protocolNames()
	for _, f := range fields.All() {
		if p, _, ok := strings.Cut(f.Name, "."); ok {
			names = append(names, p)
		}
	}
	for _, p := range words {
		if !slices.Contains(names, p) {
			return usagef("%s: there is no protocol %q%s", flag, p, meantProtocol(p))
		}
	}
	return nil
}

// shapedSink is a sink that takes in all frames, and writes those it is told of.
type shapedSink interface {
	pipeline.Sink
	Opened(*pipeline.Frame)
	Capture(name string, interfaces func() []pcapng.Interface)
	Close() error
}

// shaped makes a sink of one of tshark's forms out of one of dissect.
type shaped struct{ shapedSink }

// Capture, Finding, Connections and Beside make it a sink of dissect: what it writes knows
// no captures and no connections.
func (shaped) Capture(_, _ string)                     {}
func (shaped) Connections(iter.Seq[*trace.Connection]) {}
func (shaped) Beside()                                 {}

// Finding passes on a finding, where a column asks for it.
func (s shaped) Finding(f *conformance.Finding) {
	if c, ok := s.shapedSink.(*details.Columns); ok {
		c.Finding(ofFields(f))
	}
}

// Skipped passes on a PDU that is not shown, where a column is of more than one PDU.
func (s shaped) Skipped(p *trace.PDU) {
	if c, ok := s.shapedSink.(*details.Columns); ok {
		c.Skipped(p)
	}
}

// judges reports whether a column asks for findings.
func (o *formFlags) judges() bool {
	return fields.OfFindings(o.list)
}

// plain reports whether only columns are written, and neither they nor a filter ask for
// what is known besides the octets of frames and PDUs. Then nothing need be kept for it.
func (o *dissectOptions) plain() bool {
	if len(o.list) == 0 || o.exports() || o.wanted() || o.worst > 0 {
		return false
	}
	return fields.Alone(o.asked())
}

// asked are the fields of the columns and of the filters.
func (o *dissectOptions) asked() []*fields.Field {
	all := slices.Clone(o.list)
	for _, text := range [...]string{o.display, o.reading} {
		if text != "" {
			all = append(all, compiled(text).Fields()...)
		}
	}
	return all
}

// sinkOf makes the sink of a form; hex is -x.
func (o *formFlags) sinkOf(w io.Writer, live, hex bool) (dissectSink, error) {
	live = live || o.lineBuffered
	if hex && o.protocols == "" {
		return nil, usagef("-x goes with text, not with -T %s", o.form)
	}
	if len(o.list) > 0 {
		c := details.NewColumns(w, o.table, o.list, live)
		c.Objects(o.form)
		c.Describe(render.AppendInfo)
		if o.absolute {
			c.Absolute()
		}
		return shaped{c}, nil
	}
	opt := details.Options{Absolute: o.absolute, Live: live}
	switch o.form {
	case "json":
		opt.Form = &details.JSON{Distinct: o.distinct, Pick: o.pick()}
	case "ek":
		opt.Form = details.EK{Pick: o.pick()}
	case "pdml":
		opt.Form = &details.PDML{Creator: "iwdissect/" + Version, Pick: o.pick()}
	case "psml":
		opt.Form = &details.PSML{Creator: "iwdissect/" + Version}
	case "tabs":
		opt.Form = &details.Tabs{}
	default:
		opt.Form = &details.Text{Only: only(o.protocols), Hex: hex}
	}
	return shaped{details.NewSink(w, opt, render.AppendInfo)}, nil
}

// only are the protocols of a list, nil for all.
func only(list string) map[string]bool {
	if list == "all" {
		return nil
	}
	m := map[string]bool{}
	for p := range strings.SplitSeq(list, ",") {
		m[p] = true
	}
	return m
}

// watch has the sink of a form follow a run.
func (o *formFlags) watch(sink dissectSink, opt *pipeline.Options) {
	s, ok := sink.(shaped)
	if !ok {
		return
	}
	opt.Opened = openedToo(opt.Opened, s.Opened)
	if c, ok := s.shapedSink.(*details.Columns); !ok || c.NeedsInterfaces() {
		opt.ReadAhead = false // the reader of the file knows its interfaces
	}
}

// knows tells the sink of a form what an earlier run found out.
func (o *formFlags) knows(sink dissectSink, k foresight) {
	if s, ok := sink.(shaped); ok {
		if c, ok := s.shapedSink.(*details.Columns); ok {
			c.Use(k.known)
		}
	}
}

// opened tells the sink of a form of the capture that is read.
func (o *formFlags) opened(sink dissectSink, src *source) {
	s, ok := sink.(shaped)
	if !ok {
		return
	}
	var interfaces func() []pcapng.Interface
	if f, ok := src.Source.(interface {
		Interfaces() []pcapng.Interface
		KeepComments(bool)
	}); ok {
		f.KeepComments(true)
		if strings.Contains(src.format(), "pcapng") {
			interfaces = f.Interfaces
		}
	}
	s.shapedSink.Capture(src.name, interfaces)
}

// meantProtocol says which protocol may have been meant, or which ones begin so.
func meantProtocol(word string) string {
	names := protocolNames()
	if near := meant(word, names); near != "" || len(word) < 2 {
		return near
	}
	var begin []string
	for _, n := range names {
		if strings.HasPrefix(n, strings.ToLower(word)) {
			begin = append(begin, n)
		}
	}
	if len(begin) == 0 {
		return ""
	}
	last := len(begin) - 1
	return ", did you mean " + strings.Join(begin[:last], ", ") + " or " + begin[last] + "?"
}

// meant says which word may have been meant, if one may.
func meant(word string, words []string) string {
	if near := nearest(word, words); near != "" {
		return ", did you mean " + near + "?"
	}
	return ""
}
