package cli

import "testing"

// TestEndpointsLike: a pattern matches the endpoints that it shows, however they are spelled, and one that no
// endpoint is like is refused.
func TestEndpointsLike(t *testing.T) {
	const v4, v6, mapped = "10.1.0.1:7200", "[2001:db8::1]:7200", "[::ffff:10.1.0.1]:7200"
	for pattern, matches := range map[string][]string{
		"*": {v4, v6, mapped}, "*:7200": {v4, v6, mapped}, "*:72*": {v4, v6, mapped}, "*:7201": nil, "**:*": {v4, v6, mapped},
		"10.1.0.1": {v4}, " 10.1.0.1 ": {v4}, "10.1.0.1:7200": {v4}, "10.1.0.1:*": {v4}, "10.*": {v4}, "1*.0.1:7*0": {v4}, "10.1.0.*": {v4}, "*.1": {v4},
		"10.1.0.2": nil, "10.1.0.1:72": nil, "10.1.*.3": nil,
		"2001:db8::1": {v6}, "2001:DB8:0::1": {v6}, "[2001:db8::1]": {v6}, "[2001:0db8::1]:7200": {v6}, "[2001:db8::*]:7200": {v6}, "[2001:DB8:*": {v6},
		"*db8*": {v6}, "*::1]:7200": {v6}, "[*]": {v6, mapped}, "::ffff:10.1.0.1": {mapped}, "[::ffff:10.*]": {mapped},
	} {
		p, ok := endpointsLike(pattern)
		if !ok {
			t.Errorf("%q is refused", pattern)
			continue
		}
		for _, endpoint := range []string{v4, v6, mapped} {
			want := false
			for _, m := range matches {
				want = want || m == endpoint
			}
			if got := p.of(endpoint); got != want {
				t.Errorf("%q matches %s: %v", pattern, endpoint, got)
			}
		}
	}
	for _, pattern := range []string{
		"", " ", "host", "*.example.com", "10.1.0.1 -", "10.1.0.256", "10.1.0", "10.1.0.1.*", "10.1.0.01", "10.01.*", "300.*", "10.1.0.1:70000", "*:70000", "*:07", "*:",
		"10.1.0.0/24", "10.1.0.1:", "2001:db8:*", "2001:db8::*", "[2001:db8::1", "[fe80::1%eth0]:7200", "fe80::1%eth0", "[2001:db8::1]:http", "*:1:7200", "10.1.0.?",
	} {
		if _, ok := endpointsLike(pattern); ok {
			t.Errorf("%q is accepted, and matches nothing", pattern)
		}
	}
}
