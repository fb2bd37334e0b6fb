// The inputs of properties: fresh ones each time, but where a change is judged those that the change before it was judged by. Knows no test.
import fc from 'fast-check';

if (process.env.CI === 'true') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 });
