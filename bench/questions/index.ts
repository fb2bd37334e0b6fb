// All questions, in the order in which they are asked. A new one is a file here.
import type { Question } from '../support/question.js';
import { bulk } from './bulk.js';
import { busy } from './busy.js';
import { density } from './density.js';
import { echo } from './echo.js';
import { fanOut } from './fan-out.js';
import { flood } from './flood.js';
import { join } from './join.js';
import { keeping } from './keeping.js';
import { replay } from './replay.js';
import { replicas } from './replicas.js';
import { start } from './start.js';
import { stopped } from './stopped.js';

export const questions: readonly Question[] = [bulk, echo, flood, fanOut, stopped, join, replay, keeping, replicas, start, density, busy];
