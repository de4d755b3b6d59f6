// Level 3: where, on which stream and in which issue order. One-to-one with the schedule file.
#ifndef AUTOPAR_SCHEDULE_OPS_TD
#define AUTOPAR_SCHEDULE_OPS_TD

include "dialect/AutoparAttrs.td"
include "dialect/AutoparTypes.td"

#endif  // AUTOPAR_SCHEDULE_OPS_TD
