// Solves the puzzles of a proof of work beside the page, which goes on answering meanwhile.

import { solve } from "./proof_of_work.js";

onmessage = ({ data }) => postMessage(solve(data));
