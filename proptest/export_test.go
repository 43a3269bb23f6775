package proptest

// RaceDetector reports that the race detector is on.
const RaceDetector = raceDetector

// What a classifier of two worlds chooses to look at.
var (
	Discriminant = discriminant
	Telling      = telling
	SomeOf       = someOf
)

// UnlikeShares is the exact test of two shares.
var UnlikeShares = unlikeShares
