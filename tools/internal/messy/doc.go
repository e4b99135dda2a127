// Package messy makes of a whole capture what a broken mirror port, a late start or two taps
// would have given, and compares what is found in it with what is found in the whole one.
// Nothing may be found that the whole one does not have: no FPDU, no wrong CRC, no violation.
package messy
