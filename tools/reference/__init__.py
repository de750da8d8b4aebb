"""The reference: pages and pictures made of the code, so that they can't say anything else."""
