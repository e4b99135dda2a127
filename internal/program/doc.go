// Package program tests the program as its users call it: command lines with all that they print, the
// examples of README and docs, what runs it in continuous integration and in Wireshark, and its
// sandbox. The tests are not in the folder of the main package, since Go would compile everything for
// them once more, by the profile of the program.
package program
