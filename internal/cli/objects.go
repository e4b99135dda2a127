package cli

import (
	"net/url"
	"slices"

	"github.com/iwdissect/iwdissect/internal/capture"
)

// withObjects is the program that reads objects. It has the client of S3 linked in, and speaks with
// servers, which one that reads files should not be able to do.
const withObjects = "iwdissect-objects"

// aboutObjects says in the help what the program can read beside files.
func aboutObjects() string {
	if !capture.Reached() {
		return ""
	}
	return `
FILE may also be s3://BUCKET/KEY, s3://BUCKET/PREFIX/ for the captures below it,
s3://BUCKET/START* for all objects whose keys begin so, or https://HOST/PATH.
Credentials come from the environment, a profile or the role of the machine, as
with other programs for S3.
`
}

// reachable refuses URLs where nothing opens them.
func reachable(files []string) error {
	i := slices.IndexFunc(files, capture.IsURL)
	if i < 0 || capture.Reached() {
		return nil
	}
	return usagef("%s: this program reads files; %s reads objects, see docs/objects.md", bareURL(files[i]), withObjects)
}

// bareURL is a URL without what may be secret in it.
func bareURL(name string) string {
	u, err := url.Parse(name)
	if err != nil {
		return "URL"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
