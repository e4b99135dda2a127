package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials lists the modules that a program has linked in, as the program itself says, in
// the format CycloneDX.
func billOfMaterials(p *program, v *version) (made, error) {
	info, err := buildinfo.Read(bytes.NewReader(p.content))
	if err != nil {
		return made{}, err
	}
	sum := sha256.Sum256(p.content)
	ref := purl(info.Main.Path, v.number)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: v.date.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: ref, Type: cdx.ComponentTypeApplication, Name: "iwdissect", Version: v.String(), PackageURL: ref,
			Hashes:   &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
			Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		},
	}
	var components []cdx.Component
	uses := []string{}
	for _, d := range append([]*debug.Module{{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}}, info.Deps...) {
		if d.Replace != nil {
			return made{}, fmt.Errorf("%s is replaced: a release is built of what go.mod names", d.Path)
		}
		c := cdx.Component{BOMRef: purl(d.Path, d.Version), Type: cdx.ComponentTypeLibrary, Name: d.Path, Version: d.Version, PackageURL: purl(d.Path, d.Version)}
		if h, ok := strings.CutPrefix(d.Sum, "h1:"); ok { // that of go.sum, which is over all files
			raw, err := base64.StdEncoding.DecodeString(h)
			if err != nil {
				return made{}, err
			}
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
		}
		components, uses = append(components, c), append(uses, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: ref, Dependencies: &uses}}
	var b bytes.Buffer
	e := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON)
	e.SetPretty(true)
	if err := e.EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return made{}, err
	}
	return made{fmt.Sprintf("iwdissect_%s_%s_%s.cdx.json", v, p.system, p.arch), b.Bytes()}, nil
}

// purl names a module of Go.
func purl(path, version string) string { return "pkg:golang/" + path + "@" + version }
