// Package report writes a finished run as one HTML page that needs nothing else:
// no network, no script, no file beside it.
//
// The page opens with the verdict: whether the draws can be used as a posterior,
// why, and what to do if not. Below are the privacy label, the parameters in the
// units of the analyst, the diagnostic plots, the settings and how to cite.
//
// Everything on it is computed from released draws and public facts, so a page
// costs no privacy and may be published with the draws.
package report
