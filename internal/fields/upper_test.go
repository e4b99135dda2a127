package fields

import "testing"

// TestUpperHeaders_Size: the fields of the headers of upper layers lie in them. Of a message only so many octets are looked at.
func TestUpperHeaders_Size(t *testing.T) {
	for _, h := range upperHeaders() {
		for i := range h.Fields {
			if f := &h.Fields[i]; f.Bit+f.Width > 8*h.Size && f.Bit >= 0 {
				t.Errorf("%s, bits %d to %d, lies behind the %d octets of %s", f.Name, f.Bit, f.Bit+f.Width, h.Size, h.Name)
			}
		}
	}
}
