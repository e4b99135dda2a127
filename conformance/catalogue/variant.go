package catalogue

// Variant is one of the ways to break a rule; 0 is any that nobody has to tell from others.
type Variant uint8

// The variants that are told apart.
const (
	// SwappedOctets: the field has the expected value, with its octets swapped.
	SwappedOctets Variant = iota + 1
	// OtherQueue: the MSN is the next one of the other queue.
	OtherQueue
	// CountsMore: ULPDU_Length counts octets, too, that are not part of the ULPDU.
	CountsMore
	// AnotherBegins: of a message without L, another one begins.
	AnotherBegins
	// WentOn: a side sent more behind an error of the other one, and closed later.
	WentOn
	// ZeroField: the field has only zeros, and should not.
	ZeroField
	// PlainCRC32: the CRC is that of Ethernet, and not the CRC32c.
	PlainCRC32
)
