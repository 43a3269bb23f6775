package main

var inAccountant = []string{"./accountant", "./internal/laws", "./proptest"}

var accountantDefects = []defect{
	{file: "accountant/bounded.go", old: "return 2 * m.c * inflation", new: "return m.c * inflation", tests: inAccountant},
	{file: "accountant/bounded.go", old: "return min(eps, order*s*s/8, s)", new: "return min(eps, order*s*s/16, s)", tests: inAccountant},
	{file: "accountant/bounded.go", old: "p2 := 5 * a * (a*a - a + 1)", new: "p2 := 5 * a * (a*a - a - 1)", tests: inAccountant},
	{file: "accountant/bounded.go", old: "const inflation = 1 + 1e-9", new: "const inflation = 1.0", tests: inAccountant},
	{file: "accountant/convert.go", old: "return math.Log1p(-1/order) - (logDelta+math.Log(order))/(order-1)", new: "return math.Log1p(-1/order) - (logDelta+2*math.Log(order))/(order-1)", tests: inAccountant},
	{file: "accountant/delta.go", old: "tail := (order-1)*(rdp-eps+math.Log1p(-1/order)) - math.Log(order)", new: "tail := (order-1)*(rdp-eps+math.Log1p(-1/order)) - 2*math.Log(order)", tests: inAccountant},
	{file: "accountant/gaussian_exact.go", old: "a := mu/2 - eps/mu", new: "a := mu/2 - eps/mu - 0.01", tests: inAccountant},
	{file: "accountant/barker.go", old: "return 5/(2*b) + math.Log(2*b/left)/(2*(order-1)) + 2*order/left", new: "return math.Log(2*b/left)/(2*(order-1)) + 2*order/left", tests: inAccountant},
	{file: "accountant/barker.go", old: "k := 4 * (b - 1) / b", new: "k := 2 * (b - 1) / b", tests: inAccountant},
	{file: "accountant/poisson.go", old: "if y := (k + 1) * k * mu * mu / 2; y > 0 {", new: "if y := k * k * mu * mu / 2; y > 0 {", tests: inAccountant},
	{file: "accountant/sampling.go", old: "return math.Log1p(q * math.Expm1(eps))", new: "return math.Log1p(q * q * math.Expm1(eps))", tests: inAccountant},
	{file: "accountant/sampling.go", old: "m.fail = m.any.rate * a.delta", new: "m.fail = 0", tests: inAccountant},
	{file: "accountant/sampling.go", old: "return min(m.curve(order), m.pure)", new: "return min(m.curve(order), m.pure) / 2", tests: inAccountant},
	{file: "accountant/bit.go", old: "b.pairs = []bitPair{newBitPair(q, c, true, true)}", new: "b.pairs = []bitPair{newBitPair(q, c, true, false)}", tests: inAccountant},
	{file: "accountant/bit.go", old: "return b.search(order, 0, tolerance).top.v + tolerance", new: "return b.search(order, 0, tolerance).top.v - 0.01", tests: inAccountant},
	{file: "accountant/isotropic.go", old: "next := logExpm1((order - 1) * boundedRangeRDP(order, s*b))", new: "next := logExpm1((order - 1) * boundedRangeRDP(order, s*a))", tests: inAccountant},
	{file: "accountant/group.go", old: "return gaussian{m.sigma / k}", new: "return gaussian{m.sigma}", tests: inAccountant},
	{file: "accountant/group.go", old: "return zcdp{m.rho * k * k}", new: "return zcdp{m.rho * k}", tests: inAccountant},
	{file: "accountant/group.go", old: "perRecord = k / 2", new: "perRecord = k / 4", tests: inAccountant},
	{file: "accountant/budget.go", old: "return cost.Epsilon <= c.Epsilon", new: "return cost.Epsilon <= 2*c.Epsilon", tests: inAccountant},
	{file: "accountant/budget.go", old: "return e.RDP(c.Order) <= limitAt(c.Order, c.Epsilon, c.Delta)", new: "return e.RDP(c.Order) <= 2*limitAt(c.Order, c.Epsilon, c.Delta)", tests: inAccountant},
	{file: "accountant/exact.go", old: "return min(1, -math.Expm1(logOK)*(1+slack))", new: "return -math.Expm1(logOK) * (1 + slack)", tests: inAccountant},
	{file: "accountant/filter.go", old: "return math.Nextafter(spent+cost, math.Inf(1))", new: "return spent + cost", tests: inAccountant},
	{file: "accountant/sampling.go", old: "s.rate = min(1, float64(k)*s.rate)", new: "s.rate = min(1, s.rate)", tests: inAccountant},
	{file: "accountant/budget.go", old: "b.spent = total\n\t\treturn nil", new: "b.spent = asked\n\t\treturn nil", tests: inAccountant},
	{file: "accountant/kinds.go", old: "\"acceptance_bit\":    one(\"contribution\", AcceptanceBit)", new: "\"acceptance_bit\":    one(\"contribution\", IsotropicBit)", tests: inAccountant},
	{file: "accountant/guarantee.go", old: "return epsilon(math.Log(delta)-d) + d", new: "return epsilon(math.Log(delta) - 0*d)", tests: inCurator},
	{file: "accountant/gaussian.go", old: "func cost(what string, x float64) error {\n\tif !(x >= 0) || math.IsInf(x, 1) {", new: "func cost(what string, x float64) error {\n\tif x < 0 || math.IsInf(x, 1) {", tests: inAccountant},
}
