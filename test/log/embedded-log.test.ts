import { logContract } from './contract.js';
import { embeddedBench } from './embedded-bench.js';

logContract('the embedded log', () => embeddedBench());
logContract('the embedded log in tiny segments', () => embeddedBench({ segmentBytes: 700 }));
