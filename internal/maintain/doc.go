// Package maintain holds programs that only this repository's maintainers run, and
// nothing that the library or its command needs:
//
//	reproduce    the figures and tables of docs/, from the papers' experiments and ours
//	mutation     deliberate defects, each of which a test has to notice
//	acceptfit    the coefficients of the corrected acceptance tests
package maintain
