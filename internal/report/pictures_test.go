//go:build unix

package report

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// picture is one of the page of the demonstration, for the documents.
type picture struct {
	name, scheme string
	// from and to are the elements at its top and at its bottom.
	from, to string
	// in is the document that shows it.
	in string
}

var pictures = []picture{
	{"report-light.png", "light", "#c0n2 .finding", "#c0n2 .charts", "README.md"},
	{"report-dark.png", "dark", "#c0n2 .finding", "#c0n2 .charts", "README.md"},
	{"report-top.png", "light", "header", "main .table", "docs/report.md"},
}

// Bounds of the pictures: octets, and the width in pixels.
const (
	mostPicture  = 200_000
	pictureWidth = 1000
)

// TestPictures: the documents show pictures of the page. With -update a browser takes them; they
// differ with its fonts, so they are not compared.
func TestPictures(t *testing.T) {
	const root = "../../"
	if *update {
		takePictures(t, root+"docs/images")
	}
	for _, p := range pictures {
		octets, err := os.ReadFile(filepath.Join(root, "docs/images", p.name))
		if err != nil {
			t.Fatal(err)
		}
		c, err := png.DecodeConfig(bytes.NewReader(octets))
		if err != nil || c.Width != pictureWidth || c.Height < 300 || c.Height > 1600 || len(octets) > mostPicture {
			t.Errorf("%s: %d by %d pixels, %d octets, %v", p.name, c.Width, c.Height, len(octets), err)
		}
		text, err := os.ReadFile(root + p.in)
		if err != nil || !strings.Contains(string(text), "images/"+p.name) {
			t.Errorf("%s does not show %s: %v", p.in, p.name, err)
		}
	}
}

// takePictures takes the pictures with a browser.
func takePictures(t *testing.T, folder string) {
	demo, _ := scenario.Find("demo")
	r := &Report{Tool: "iwdissect", Captures: []*Capture{captured(t, 0, generated(t, demo), 3)}}
	page := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(page, []byte(pageOf(t, r)), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browse(t)
	for _, p := range pictures {
		b.do("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": p.scheme}}}, nil)
		b.open(page, pictureWidth)
		var at struct{ Top, Bottom float64 }
		b.eval(`(() => {
			document.querySelectorAll(".conn").forEach(d => { d.open = d.id === "c0n2"; });
			const top = document.querySelector("`+p.from+`").getBoundingClientRect().top + scrollY;
			return {Top: Math.max(top - 10, 0), Bottom: document.querySelector("`+p.to+`").getBoundingClientRect().bottom + scrollY + 14};
		})()`, &at)
		var shot struct{ Data string }
		b.do("Page.captureScreenshot", map[string]any{
			"format": "png", "captureBeyondViewport": true,
			"clip": map[string]any{"x": 0, "y": at.Top, "width": pictureWidth, "height": at.Bottom - at.Top, "scale": 1},
		}, &shot)
		octets, err := base64.StdEncoding.DecodeString(shot.Data)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, p.name), octets, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
