// Checks the recorded conversations of a folder:  node check_wire.mjs DIR
// Exit code 1: acpd said something that does not fit, or nothing at all.
import { checkWire } from './wire.mjs';

const report = checkWire(process.argv[2]);
report.print();
if (report.violations.length > 0 || report.messages === 0) process.exitCode = 1;
