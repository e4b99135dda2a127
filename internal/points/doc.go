// Package points reads the list of the capture points of a site: a file with one point a line.
//
// A point is what was captured at one place, and is analysed as one capture, however many files
// it wrote. A line names it, its files, and options that hold for it alone:
//
//	# name   files                    options
//	rack-7   /captures/rack-7/*.pcap
//	spine_1  tap1.pcap tap2.pcap      --merge
//	nfs      "old rings"/*.pcap.zst   -d tcp.port==20049,iwarp_mpa
//
// Words are separated by blanks. Between ' and ', or " and ", blanks, # and the characters of globs
// stand for themselves; a backslash always does. A # that begins a word begins a comment.
package points
