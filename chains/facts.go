package chains

import (
	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
)

// Facts returns the public facts that a curator of a table of the shape has.
func Facts(s *data.Shape, adjacency accountant.Adjacency) curator.Facts {
	return curator.Facts{
		Records: int64(s.Records), Features: s.Features(), Response: s.HasTarget(), Radius: s.Radius,
		RowsPerPerson: s.RowsPerPerson, Adjacency: adjacency,
	}
}

// Records returns a table's records, for curator.Seal. Most callers want Seal.
func Records(t *data.Table) curator.Records {
	return curator.Records{X: t.X, X32: t.X32, Shared: t.Shared, Features: t.Features(), Y: t.Y, Radius: t.Radius,
		RowsPerPerson: t.RowsPerPerson}
}
