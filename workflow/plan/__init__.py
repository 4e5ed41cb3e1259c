"""What a grid costs before it runs, and what is left of it: `make plan`. No part of the workflow."""
