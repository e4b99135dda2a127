package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/details"
	"github.com/iwdissect/iwdissect/internal/fields"
)

// layerForms are the forms that -j and -J are for.
var layerForms = []string{"json", "ek", "pdml"}

// layerFlags adds -j and -J as tshark has them. -j with a number is --jobs: no protocol is
// called that.
func (o *formFlags) layerFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.wholeLayers, "all-below", "J", "", "with -T json, ek or pdml, show all levels of the layers `PROTOCOLS`, and only the names of the others")
	if jobs := f.Lookup("jobs"); jobs != nil {
		jobs.Value = &jobsOrLayers{jobs.Value, &o.layers}
		jobs.Usage = "use at most `N` processors (default all); or PROTOCOLS: as -J, but only their first level"
	}
}

// jobsOrLayers is a flag that takes the number of processors, or protocols.
type jobsOrLayers struct {
	pflag.Value
	layers *string
}

// Set implements [pflag.Value].
func (v *jobsOrLayers) Set(text string) error {
	if _, err := strconv.ParseInt(text, 0, 64); err == nil {
		return v.Value.Set(text)
	}
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("it takes a number of processors, or protocols such as %q", "ip tcp")
	}
	*v.layers = text
	return nil
}

// layerNames are the words of a list, between which there are spaces or commas.
func layerNames(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' })
}

// checkLayers refuses -j and -J where they mean nothing.
func (o *formFlags) checkLayers() error {
	flag, list := "-j", o.layers
	switch {
	case o.layers != "" && o.wholeLayers != "":
		return usagef("-j and -J are two answers to one question")
	case o.wholeLayers != "":
		flag, list = "-J", o.wholeLayers
	case o.layers == "":
		return nil
	}
	if !slices.Contains(layerForms, o.form) || len(o.asked) > 0 {
		return usagef("%s %s goes with -T json, ek or pdml without -e", flag, list)
	}
	words := layerNames(list)
	return knownProtocols(flag, slices.DeleteFunc(words, func(w string) bool { return fields.Find(w) != nil }))
}

// pick are the layers of -j and -J.
func (o *formFlags) pick() *details.Pick {
	list := o.layers + o.wholeLayers
	if list == "" {
		return nil
	}
	p := &details.Pick{Names: map[string]bool{}, Whole: o.wholeLayers != ""}
	for _, name := range layerNames(list) {
		p.Names[name] = true
	}
	return p
}
