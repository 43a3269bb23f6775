// Package chains makes private chains by name: a kernel's name and the settings
// that the caller has an opinion on; what is not given is chosen from public
// facts alone.
//
// Choose fills every setting from the model, the public facts of the records and
// the budget, and never sees a record. The Plan that it returns says what every
// step releases, prices all its chains together (Cost), and opens them on sealed
// records (Open), which charges them. A plan adds no mechanism: whatever it
// chooses, the guarantee is the curator's.
//
// Settings have one name each, which messages use and which are the flags of
// dpmcmc sample: step, max-move, fixed-batch. A setting that is not right is a
// *SettingError; a budget that no value of an open setting can meet is one that
// wraps an *accountant.UnreachableError.
package chains
