package chains

import (
	"github.com/dpmcmc/dpmcmc/accountant"
	"github.com/dpmcmc/dpmcmc/curator"
	"github.com/dpmcmc/dpmcmc/data"
)

// Facts are those of a curator that holds a table of the shape.
func Facts(s *data.Shape, adjacency accountant.Adjacency) curator.Facts {
	return curator.Facts{
		Records: int64(s.Records), Features: s.Features(), Response: s.HasTarget(), Radius: s.Radius,
		RowsPerPerson: s.RowsPerPerson, Adjacency: adjacency,
	}
}

// Records are a table's, to be sealed.
func Records(t *data.Table) curator.Records {
	return curator.Records{X: t.X, X32: t.X32, Shared: t.Shared, Features: t.Features(), Y: t.Y, Radius: t.Radius,
		RowsPerPerson: t.RowsPerPerson}
}
