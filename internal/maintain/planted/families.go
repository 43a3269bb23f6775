package planted

// suite has families of defects in the order of the tables. A new family is one line here.
type suite struct {
	name  string
	right func() []Case // that is of no family
	kinds []family      // named after what is wrong
	sets  []family      // that the suite had not seen: docs/proptest-sets.md says how each was made
}

// family is defects, and what is right in the same dress. Controls are nil where there are none.
type family struct {
	name              string
	defects, controls func() []Case
}

var suites = []suite{
	{"CheckTarget", targetControls, []family{
		{"ratio against losses", ratioDefects, nil},
		{"gradient against losses", gradientDefects, nil},
		{"values of the loss", valueDefects, nil},
		{"predictor against losses", predictorDefects, nil},
		{"certificates", certificateDefects, nil},
		{"prior", priorDefects, nil},
		{"state and batches", stateDefects, nil},
	}, []family{
		{"unseen", unseenTargets, nil},
		{"fresh", freshTargets, nil},
		{"second", secondTargets, nil},
		{"third", thirdTargets, nil},
		{"fourth", fourthTargets, fourthTargetControls},
		{"fifth", fifthTargets, nil},
		{"sixth", sixthTargets, nil},
		{"seventh", seventhTargets, nil},
		{"eighth", eighthTargets, nil},
		{"ninth", ninthTargets, ninthTargetControls},
		{"tenth", tenthTargets, tenthTargetControls},
		{"eleventh", eleventhTargets, eleventhTargetControls},
		{"twelfth", twelfthTargets, twelfthTargetControls},
		{"thirteenth", thirteenthTargets, thirteenthTargetControls},
		{"fourteenth", fourteenthTargets, nil},
		{"fifteenth", fifteenthTargets, fifteenthTargetControls},
		{"sixteenth", sixteenthTargets, sixteenthTargetControls},
		{"seventeenth", seventeenthTargets, seventeenthTargetControls},
		{"after the sixteenth", afterSixteenthTargets, nil},
		{"after the seventeenth", afterSeventeenthTargets, afterSeventeenthTargetControls},
		{"eighteenth", eighteenthTargets, eighteenthTargetControls},
		{"nineteenth", nineteenthTargets, nineteenthTargetControls},
		{"twentieth", twentiethTargets, twentiethTargetControls},
		{"after the twentieth", afterTwentiethTargets, afterTwentiethTargetControls},
		{"twenty-first", twentyFirstTargets, twentyFirstTargetControls},
		{"twenty-second", twentySecondTargets, twentySecondTargetControls},
		{"unusual", none, unusualTargets},
	}},
	{"CheckKernel", kernelControls, []family{
		{"invariance of walks", invarianceDefects, nil},
		{"invariance of Langevin steps", langevinDefects, nil},
		{"reach", reachDefects, nil},
		{"steps against Transition", transitionDefects, nil},
		{"leaks", leakDefects, nil},
		{"conformance", conformanceDefects, nil},
		{"scales of reversible walks", following, nil},
		{"prices", prices, nil},
	}, []family{
		{"unseen", unseenKernels, nil},
		{"fresh", freshKernels, nil},
		{"second", secondKernels, nil},
		{"third", thirdKernels, nil},
		{"fourth", fourthKernels, fourthKernelControls},
		{"fifth", fifthKernels, nil},
		{"sixth", sixthKernels, nil},
		{"seventh", seventhKernels, nil},
		{"eighth", eighthKernels, nil},
		{"ninth", ninthKernels, ninthKernelControls},
		{"tenth", tenthKernels, nil},
		{"eleventh", eleventhKernels, eleventhKernelControls},
		{"twelfth", twelfthKernels, twelfthKernelControls},
		{"thirteenth", thirteenthKernels, thirteenthKernelControls},
		{"after the thirteenth", afterThirteenth, nil},
		{"fourteenth", fourteenthKernels, fourteenthKernelControls},
		{"after the fourteenth", afterFourteenth, nil},
		{"fifteenth", fifteenthKernels, fifteenthKernelControls},
		{"sixteenth", sixteenthKernels, sixteenthKernelControls},
		{"seventeenth", seventeenthKernels, seventeenthKernelControls},
		{"after the sixteenth", afterSixteenthKernels, nil},
		{"after the seventeenth", afterSeventeenthKernels, nil},
		{"eighteenth", eighteenthKernels, eighteenthKernelControls},
		{"nineteenth", nineteenthKernels, nineteenthKernelControls},
		{"twentieth", twentiethKernels, twentiethKernelControls},
		{"twenty-first", twentyFirstKernels, twentyFirstKernelControls},
		{"twenty-second", twentySecondKernels, twentySecondKernelControls},
		{"unusual", none, unusualKernels},
		{"after the twenty-first", afterTwentyFirstKernels, nil},
	}},
	{"CheckMechanism", mechanismControls, []family{
		{"noise", noiseDefects, nil},
		{"dependence", dependenceDefects, nil},
		{"what records do", dataDefects, nil},
		{"bits", bitDefects, nil},
	}, []family{
		{"unseen", unseenMechanisms, nil},
		{"fresh", freshMechanisms, nil},
		{"second", secondMechanisms, nil},
		{"third", thirdMechanisms, nil},
		{"fourth", fourthMechanisms, fourthMechanismControls},
		{"fifth", fifthMechanisms, nil},
		{"sixth", sixthMechanisms, nil},
		{"seventh", seventhMechanisms, nil},
		{"eighth", eighthMechanisms, nil},
		{"ninth", ninthMechanisms, ninthMechanismControls},
		{"tenth", tenthMechanisms, nil},
		{"eleventh", eleventhMechanisms, eleventhMechanismControls},
		{"twelfth", twelfthMechanisms, twelfthMechanismControls},
		{"thirteenth", thirteenthMechanisms, thirteenthMechanismControls},
		{"fourteenth", fourteenthMechanisms, nil},
		{"fifteenth", fifteenthMechanisms, fifteenthMechanismControls},
		{"sixteenth", sixteenthMechanisms, sixteenthMechanismControls},
		{"seventeenth", seventeenthMechanisms, seventeenthMechanismControls},
		{"after the sixteenth", afterSixteenthMechanisms, nil},
		{"after the seventeenth", afterSeventeenthMechanisms, afterSeventeenthMechanismControls},
		{"eighteenth", eighteenthMechanisms, eighteenthMechanismControls},
		{"nineteenth", nineteenthMechanisms, nineteenthMechanismControls},
		{"twentieth", twentiethMechanisms, twentiethMechanismControls},
		{"twenty-first", twentyFirstMechanisms, twentyFirstMechanismControls},
		{"twenty-second", twentySecondMechanisms, twentySecondMechanismControls},
		{"unusual", none, unusualMechanisms},
	}},
}

// none is the defects of a family of right ones.
func none() []Case { return nil }
