package main

var (
	inCurator = []string{"./curator", "./internal/laws", "./proptest"}
	inRecord  = []string{"./internal/record", "./curator", "./internal/laws"}
)

var curatorDefects = []defect{
	{file: "curator/grid.go", old: "if k < -top {", new: "if k < -2*top {", tests: inCurator},
	{file: "curator/grid.go", old: "g.top = math.Floor(bound * g.inverse)", new: "g.top = math.Ceil(bound * g.inverse)", tests: inCurator},
	{file: "curator/grid.go", old: "if k != k {\n\t\treturn 0\n\t}\n\treturn int64(k)\n}\n\n// Float", new: "return int64(k)\n}\n\n// Float", tests: inCurator},
	{file: "curator/pass.go", old: "bound := p.slope * math.Abs(along[i]) * p.grid.inverse", new: "bound := 2 * p.slope * math.Abs(along[i]) * p.grid.inverse", tests: inCurator},
	{file: "curator/pass.go", old: "total.add(p.grid.round(p.tau*(l-lossNext[i]), bound))", new: "total.add(p.grid.round(p.tau*(l-lossNext[i]), top))", tests: inCurator},
	{file: "curator/pass.go", old: "c.current, c.proposed = c.proposed, c.current", new: "c.current, c.proposed = c.current, c.proposed", tests: inCurator},
	{file: "curator/pass.go", old: "copy(p.cache.next, next)", new: "copy(p.cache.theta, next)", tests: inCurator},
	{file: "curator/pass.go", old: "if !slices.Equal(c.next, theta) {\n\t\treturn false\n\t}", new: "if c.next[0] != theta[0] {\n\t\treturn true\n\t}", tests: inCurator},
	{file: "curator/pass.go", old: "p.workers[i].total = totals{}", new: "p.workers[i].total.sum = 0", tests: inCurator},
	{file: "curator/door.go", old: "if !d.try(q, d.dst, d.theta, d.next, copied) {\n\t\tfillNaN(d.dst)\n\t}", new: "_ = d.try(q, d.dst, d.theta, d.next, copied)", tests: inCurator},
	{file: "curator/door.go", old: "\tfillNaN(d.dst)\n\tif !d.try", new: "\tif !d.try", tests: inCurator},
	{file: "curator/door.go", old: "d.try(q, d.dst, d.theta, d.next, copied)", new: "d.try(q, d.dst, theta, next, copied)", tests: inCurator},
	{file: "curator/door.go", old: "d.try(q, d.dst, d.theta, d.next, copied)", new: "d.try(q, d.dst, d.theta, d.next, row)", tests: inCurator},
	{file: "curator/door.go", old: "if d.subject.ours && d.try(", new: "if d.try(", tests: inCurator},
	{file: "curator/claims.go", old: "if !(v >= 0) {", new: "if v < 0 {", tests: inCurator},
	{file: "curator/certificates.go", old: "if !(forth >= 0 && back >= 0) {", new: "if false {", tests: inCurator},
	{file: "curator/ratio.go", old: "return float64(coordinates) * (reach*reach + 1) / (4 * sd * sd)", new: "return 0 * reach * float64(coordinates) / sd", tests: inCurator},
	{file: "curator/pass.go", old: "t.squares += c * c", new: "t.squares += c", tests: inCurator},
	{file: "curator/curator.go", old: "g.left--\n", new: "", tests: inCurator},
	{file: "curator/curator.go", old: "if err := c.budget.Charge(event, count); err != nil {", new: "if err := c.budget.Charge(event, 1); err != nil {", tests: inCurator},
	{file: "curator/curator.go", old: "c.root.Derive(2*c.grants), c.root.Derive(2*c.grants+1)", new: "c.root.Derive(2*c.grants+1), c.root.Derive(2*c.grants)", tests: inCurator,
		equivalent: "the two streams of a grant are alike; which is public does not matter"},
	{file: "curator/batch.go", old: "return float64(f.Records) / float64(b.size)", new: "return 1", tests: inCurator},
	{file: "curator/batch.go", old: "accountant.Poisson(min(1, float64(k)*b.rate))", new: "accountant.Poisson(b.rate)", tests: inCurator},
	{file: "curator/batch.go", old: "accountant.WithoutReplacement(f.Records, min(f.Records, k*b.size))", new: "accountant.WithoutReplacement(f.Records, min(f.Records, b.size))", tests: inCurator},
	{file: "curator/pool.go", old: "if !ours {", new: "if false {", tests: inCurator},
	{file: "curator/pool.go", old: "p.do(worker, p.at[worker])\n\tp.drain(worker)", new: "p.drain(worker)", tests: inCurator},
	{file: "curator/move.go", old: "if length := norm(step); !(length <= m.scale) {", new: "if length := norm(step); length > 2*m.scale {", tests: inCurator},
	{file: "curator/mechanism.go", old: "p.contribution = each * p.scale * float64(f.RowsPerPerson)", new: "p.contribution = each * float64(f.RowsPerPerson)", tests: inCurator},
	{file: "curator/mechanism.go", old: "b.slope, b.perScale = slope, slope*f.Radius*m.Move.scale", new: "b.slope, b.perScale = slope, slope*m.Move.scale", tests: inCurator},
	{file: "curator/ratio.go", old: "multiplier *= 2", new: "multiplier *= 4", tests: inCurator},
	{file: "curator/ratio.go", old: "multiplier /= float64(f.RowsPerPerson) * (1 + relativeSlack)", new: "multiplier /= 1 + relativeSlack", tests: inCurator},
	{file: "curator/vectors.go", old: "if length > p.shorten {", new: "if length > 2*p.shorten {", tests: inCurator},
	{file: "curator/vectors.go", old: "factor := slope * p.tau * p.grid.inverse", new: "factor := slope * p.grid.inverse", tests: inCurator},
	{file: "internal/record/project.go", old: "clear(row)\n\t\t\treturn false", new: "return false", tests: inRecord},
	{file: "internal/record/project.go", old: "norm > inside; norm", new: "norm > 2*inside; norm", tests: inRecord},
	{file: "internal/record/record.go", old: "if s.y == nil {\n\t\treturn x[:len(index)*p], nil", new: "if s.y == nil {\n\t\treturn x[:len(index)*p], y", tests: inRecord},
}
