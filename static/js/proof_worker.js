// Solves the puzzles of a proof of work beside the page, which goes on answering meanwhile.

import { solve } from "./proof.js";

onmessage = ({ data }) => postMessage(solve(data));
