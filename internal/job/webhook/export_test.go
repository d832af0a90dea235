package webhook

// PositionOf is how places are stored.
var PositionOf = positionOf
