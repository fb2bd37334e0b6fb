// All questions, in the order in which they are asked. A new one is a file here.
import type { Question } from '../support/question.js';
import { bulk } from './bulk.js';
import { echo } from './echo.js';

export const questions: readonly Question[] = [bulk, echo];
